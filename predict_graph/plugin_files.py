"""Plug-ins in a Python file of the user, which registers them as it is loaded."""

from __future__ import annotations

import contextlib
import dis
import hashlib
import inspect
import os
import pickle
import re
import reprlib
import sys
import sysconfig
import traceback
from ast import literal_eval
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from uuid import uuid4

from predict_graph.errors import RequestError, described_error
from predict_graph.inputs import read_bytes
from predict_graph.plugins import Registry, registrations


class _Loaded(NamedTuple):
    module: ModuleType
    source: bytes
    registered: list[tuple[Registry[Any], str]]


_Place = tuple[int, str]
_LOADED: dict[Path, _Loaded] = {}
_CONSTANTS = (int, float, str, tuple, list, dict, set, frozenset)
_INSTALLED = (sysconfig.get_path("stdlib"), os.path.dirname(__file__))
_CHANGES = {"STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "append", "add"}
_CHANGES |= {"update", "setdefault", "extend", "insert", "pop", "popitem", "remove", "discard"}
_CHANGES |= {"clear"}


def load_plugin(path: str | Path) -> ModuleType:
    """Load a Python file, whose decorators register plug-ins; it may import what is beside it.

    A file that is loaded again is left as it is, unless it has changed: then what it had registered
    is forgotten first.

    Parameters
    ----------
    path : str or Path
        Ends in ``.py``.

    Returns
    -------
    module
        What the file defines.

    Raises
    ------
    RequestError
        If the file cannot be read, raises an error, registers a name that is taken, or registers
        nothing. Nothing of it is registered then.
    """
    return _load(path, "plug-in file", registers=True)


def file_module(file: Path) -> ModuleType:
    """Execute a Python file unless it has been as it is; it may import what is beside it."""
    return _load(file, "file", registers=False)


def code_digest(thing: Any, seen: set[int] | None = None) -> str:
    """Return a digest of the code of a function, class or object, and of what it uses.

    Of what is around it by name, and of modules what it names, it takes numbers, texts and
    containers, but for those that it fills itself, such as caches, and functions and classes in the
    same way, unless they are of a package that is installed; of defaults, variables around it and
    attributes of its object, which it may fill too, all contents. It is empty where there is no
    Python code. What has been `seen` is not taken again: functions may use each other.

    Examples
    --------
    >>> len(code_digest(code_digest)), code_digest(len), len(code_digest(eval("lambda: 1")))
    (16, '', 16)
    """
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return "seen"
    constants: dict[_Place, Any] = {}
    filled: set[_Place] = set()
    seen.add(id(thing))
    todo = [thing]
    for each in todo:  # what they use is added
        for place, value in _used_by(each, seen, filled):
            if isinstance(value, _CONSTANTS) and not place[1].startswith("__"):
                constants[place] = value
            elif id(value) not in seen and _is_own(value, each):
                seen.add(id(value))
                todo.append(value)
    kept = (item for item in constants.items() if item[0] not in filled)
    source = "".join(name + content_text(value, seen) for (_, name), value in kept)
    return hashlib.blake2b(source.encode(), digest_size=8).hexdigest() if source else ""


class _Contents(pickle.Pickler):
    """Pickles sets, whose order differs between processes, in one, and lambdas by their code."""

    seen: set[int]

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, FunctionType) and "<" in value.__qualname__:
            return code_digest(value, self.seen) or None
        return sorted(value, key=repr) if isinstance(value, set | frozenset) else None


def content_text(value: Any, seen: set[int] | None = None) -> str:
    """Return a text of a value that equal contents have alone; one that it never has again if none.

    It is the Python literal, if there is one that is not large.

    Examples
    --------
    >>> content_text([1, *"bcdefgh"]), content_text(code_digest)[:12]
    ("[1, 'b', 'c', 'd', 'e', 'f', 'g', 'h']", 'code_digest ')
    >>> import numpy
    >>> given = numpy.arange(2000), numpy.arange(2) / 3, lambda: 1, {"x": lambda: 2}
    >>> [*map(content_text, given)] == [*map(content_text, given)]
    True
    >>> len({*map(content_text, given), content_text(numpy.arange(2) / 3 + 1e-15)})
    5
    >>> content_text([{0, 8}, *range(9)]) == content_text([{8, 0}, *range(9)])  # come in two orders
    True
    """
    digest, blocks = hashlib.blake2b(digest_size=4), iter(range(200))

    def write(block: Any) -> None:
        next(blocks)  # limits the time: they are of 64 KiB, but for arrays
        digest.update(block)

    pickler = _Contents(SimpleNamespace(write=write))
    pickler.seen = seen or set()
    try:
        pickler.dump((callable(value) and code_digest(value, pickler.seen)) or value)
    except Exception:  # of another's class, or too large
        digest.update(uuid4().bytes)
    with contextlib.suppress(Exception):  # no literal
        text = repr(value) if next(blocks) == 1 else ""
        text = reprlib.repr(value) if "{" in text else text  # a set in one order
        if literal_eval(text) == value:
            return text
    return f"{getattr(value, '__qualname__', type(value).__qualname__)} {digest.hexdigest()}"


def _is_own(thing: Any, user: Any) -> bool:
    """Whether code is of the same folder as what uses it, or of no package that is installed."""
    folder = _home(thing)
    installed = "-packages" in folder or folder.startswith(_INSTALLED)
    return folder == _home(user) or (os.sep in folder and not installed)


def _home(thing: Any) -> str:
    """Return the folder of a module, or of that of a function or class; its name without one."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    file = getattr(sys.modules.get(name), "__file__", None)
    return os.path.dirname(file) if file else name


def _used_by(thing: Any, seen: set[int], filled: set[_Place]) -> Iterator[tuple[_Place, Any]]:
    """Yield what a function has by name around it, in modules too, or a class inside it, by place.

    What its code fills is added to `filled`.
    """
    if isinstance(thing, type):
        inside = vars(thing) | {each.__name__: each for each in thing.__bases__}
        for name, each in inside.items():
            yield (id(thing), name), getattr(each, "fget", getattr(each, "func", each))
        return
    owner = getattr(thing, "__self__", None)
    function = inspect.unwrap(getattr(thing, "__func__", thing))
    if not inspect.isfunction(function):
        function, owner = inspect.getattr_static(type(thing), "__call__", None), thing
    if not inspect.isfunction(function):
        return
    kind: Any = owner if isinstance(owner, type) else type(owner)
    codes, names, spaces = [function.__code__], function.__globals__, [function.__globals__]
    for each in codes:  # those inside it, of comprehensions as well, are added
        codes += [inner for inner in each.co_consts if isinstance(inner, CodeType)]
        constants = [value for value in each.co_consts if not isinstance(value, CodeType)]
        yield (id(each), "its code"), (each.co_code, *each.co_names, *constants)
    used = sorted({name for each in codes for name in each.co_names})
    for space in spaces:  # those of modules are added: of these what it names, or else all
        named = [name for name in used if name in space]
        for name in named or ([] if space is names else sorted(space)):
            yield (id(space), name), space[name]
            if isinstance(space[name], ModuleType) and _is_own(space[name], function):
                inside = vars(space[name])
                spaces += [] if any(inside is each for each in spaces) else [inside]
    inner = [id(kind), *map(id, spaces[1:])]  # of attributes
    for each in codes:
        loaded: dict[Any, list[str]] = {}
        for step in dis.get_instructions(each):
            at = step.positions and step.positions[::2]  # what is loaded begins what is changed
            if step.opname in ("LOAD_GLOBAL", "STORE_GLOBAL"):
                loaded[at] = [step.argval]
            elif step.opname in ("LOAD_ATTR", "STORE_ATTR"):
                loaded.setdefault(at, []).append(f".{step.argval}")
            if at in loaded and _CHANGES & {step.opname, str(step.argval)}:
                filled |= {(id(names), name) for name in loaded[at]}
                filled |= {(space, name[1:]) for name in loaded[at] for space in inner}
    held: dict[Any, Any] = dict(enumerate(function.__defaults__ or ()))
    plain = owner if kind.__getstate__ is object.__getstate__ else None
    inside = {} if owner is kind else getattr(plain, "__dict__", {"": owner})
    kept = {name: each for name, each in inside.items() if (id(names), f".{name}") not in filled}
    held |= {"self": kept, "class": kind, **(function.__kwdefaults__ or {})}
    with contextlib.suppress(ValueError):  # what has no value yet
        held |= dict(inspect.getclosurevars(function).nonlocals)
    for name, each in held.items():
        code = isinstance(each, type | FunctionType | ModuleType)
        yield (id(thing), f"its {name}"), each if code else content_text(each, seen)
        yield (id(thing), f"type of {name}"), type(each)


def _load(path: str | Path, kind: str, *, registers: bool) -> ModuleType:
    """Execute a file unless it has been; what it registers is undone if it fails or changes.

    Its folder comes first among those of modules, as that of a script does.
    """
    file = Path(os.path.realpath(os.path.expanduser(path)))
    said = f"the {kind} {file} cannot be loaded"
    if file.suffix != ".py":
        raise RequestError(f"{said}: its name does not end in .py; accepted: a Python file")
    try:
        source = read_bytes(file)
    except RequestError as error:
        reason = str(error).removeprefix(f"{file} ").removeprefix("cannot be read: ")
        raise RequestError(f"{said}: {reason}") from error
    before = _LOADED.get(file)
    if before is not None and before.source == source and (before.registered or not registers):
        return before.module
    _unregister(() if before is None else _LOADED.pop(file).registered)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    known = len(registrations())
    try:
        module = _execute(file, source, said)
        registered = registrations()[known:]
        if registers and not registered:
            accepted = "accepted: a file with such as @register"
            raise RequestError(f"{said}: it registers no plug-in; {accepted}")
    except BaseException:
        _unregister(registrations()[known:])
        sys.modules.pop(_module_name(file), None)
        raise
    _LOADED[file] = _Loaded(module, source, registered)
    return module


def loaded_plugins() -> list[str]:
    """Return the files that were loaded, in that order: what another process must load too."""
    return [str(file) for file, loaded in _LOADED.items() if loaded.registered]


def blamed_file(error: BaseException) -> str:
    """Say which loaded file raised an error, in which line, and what it is; empty if none did."""
    reasons = ((file.name, _reason(error, file)) for file in _LOADED)
    return next((f"{name} failed: {why}" for name, why in reasons if why.startswith("line ")), "")


def _execute(file: Path, source: bytes, said: str) -> ModuleType:
    """Execute a Python file as a module."""
    module = ModuleType(_module_name(file))
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where pickle and dataclasses look for what it defines
    try:
        exec(compile(source, str(file), "exec"), vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RequestError(f"{said}: {_reason(error, file)}") from error
    return module


def _reason(error: BaseException, file: Path) -> str:
    """Return the line of the file that raised an error, and what the error is."""
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == str(file)]
    text = str(error) if isinstance(error, RequestError) else described_error(error)
    if isinstance(error, SyntaxError):
        lines = [error.lineno or 0] if error.filename == str(file) else lines
        text = f"{type(error).__name__}: {error.msg}"
    elif isinstance(error, SystemExit):
        text = "it ends the program (SystemExit)"
    return f"line {lines[-1]}: {text}" if lines else text


def _unregister(registered: Iterable[tuple[Registry[Any], str]]) -> None:
    for registry, name in registered:
        registry.unregister(name)


def _module_name(file: Path) -> str:
    """Return the same name in every process, and different ones for files of the same name."""
    stem = re.sub(r"\W", "_", file.stem)  # an identifier: texts refer to it
    return f"plugin_{stem}_{hashlib.blake2b(str(file).encode(), digest_size=4).hexdigest()}"
