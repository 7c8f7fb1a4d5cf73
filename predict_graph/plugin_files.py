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
from functools import partial
from numbers import Number
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from predict_graph.errors import RequestError, described_error
from predict_graph.inputs import read_bytes
from predict_graph.plugins import Registry, registrations


class _Loaded(NamedTuple):
    module: ModuleType
    source: bytes
    registered: list[tuple[Registry[Any], str]]


_LOADED: dict[Path, _Loaded] = {}
_CONSTANTS = (Number, str, bytes, PurePath, tuple, list, dict, set, frozenset, np.ndarray, partial)
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

    Of what is around it by name, and of modules what it names, it takes constants (numbers, texts,
    arrays, containers), functions, classes and their objects, unless they are of a package that is
    installed, and in the same way what these use. Of defaults, variables around it and attributes
    of objects it takes all contents. Left out is what its own code changes, such as a cache. It is
    empty where there is no Python code. What has been `seen` is not taken again: functions may use
    each other.

    Examples
    --------
    >>> len(code_digest(code_digest)), code_digest(len), len(code_digest(eval("lambda: 1")))
    (16, '', 16)
    """
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return "seen"
    texts = [name + content_text(value, seen) for name, value in _Uses(thing, seen).unchanged()]
    return hashlib.blake2b("".join(texts).encode(), digest_size=8).hexdigest() if texts else ""


class _Uses:
    """What code uses, what that uses, and so on.

    Constants are known by their names: of a class after its own and a dot; after a dot alone where
    all contents count, whatever they are: of defaults, variables around a function, and attributes
    of an object.
    """

    def __init__(self, thing: Any, seen: set[int]) -> None:
        self._constants: dict[tuple[str, int], Any] = {}
        self._called = {"__call__", getattr(thing, "__name__", "")}  # names of functions
        self._changed: list[tuple[str, str]] = []  # by which function, and what
        seen.add(id(thing))
        todo = [thing]
        for each in todo:  # what they use is added
            for name, value in self._of(each):
                constant, held = isinstance(value, _CONSTANTS), name.startswith(".")
                if not constant and _is_own(value, each):
                    todo += [] if id(value) in seen else [value]
                    seen.add(id(value))
                elif constant or (held and not isinstance(value, ModuleType)):
                    self._constants[name, id(value)] = value

    def unchanged(self) -> Iterator[tuple[str, Any]]:
        """Yield the constants, by name, that no function changes which may be called."""
        changed = {name for function, name in self._changed if function in self._called}
        for (name, _), value in self._constants.items():
            _, dot, last = name.rpartition(".")
            if changed.isdisjoint((last, dot + last)) and not last.startswith("__"):
                yield name, value

    def _of(self, thing: Any) -> Iterable[tuple[str, Any]]:
        """Return what a class, a method, a function or an object uses, by name."""
        if isinstance(thing, type):
            inside = {**vars(thing), **{each.__name__: each for each in thing.__bases__}}
            codes = {name: getattr(x, "fget", getattr(x, "func", x)) for name, x in inside.items()}
            return [(f"{thing.__name__}.{name}", code) for name, code in codes.items()]
        if isinstance(thing, MethodType):
            return [("function", thing.__func__), (".object", thing.__self__)]
        # Without decorators of installed packages.
        function = inspect.unwrap(thing, stop=lambda x: inspect.isfunction(x) and _is_own(x, None))
        if isinstance(function, FunctionType):
            return self._of_function(function)
        kind: Any = type(thing)
        plain = kind.__getstate__ is object.__getstate__ and hasattr(thing, "__dict__")
        if not (plain or _is_own(kind, None)):
            return []  # of a library in C
        held = vars(thing) if plain else {"": [thing]}
        return [("class", kind), *((f".{name}", value) for name, value in held.items())]

    def _of_function(self, function: FunctionType) -> Iterator[tuple[str, Any]]:
        codes = [function.__code__]
        for code in codes:  # those inside it, of comprehensions as well, are added
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
            constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
            yield "code", (code.co_code, *code.co_names, *constants)
            self._changed += [(function.__name__, name) for name in _changed_names(code)]
        names = sorted({name for code in codes for name in code.co_names})
        self._called.update({*names} - {"__init__", "__new__"})  # which fill a new object
        spaces = [function.__globals__]
        for space in spaces:  # those of modules are added: of these what it names, or else all
            named = [name for name in names if name in space]
            for name in named or ([] if space is function.__globals__ else sorted(space)):
                yield name, space[name]
                module = isinstance(space[name], ModuleType) and _is_own(space[name], function)
                if module and not any(vars(space[name]) is each for each in spaces):
                    spaces.append(vars(space[name]))
        values: dict[Any, Any] = dict(enumerate(function.__defaults__ or ()))
        values |= function.__kwdefaults__ or {}
        with contextlib.suppress(ValueError):  # what has no value yet
            values |= dict(inspect.getclosurevars(function).nonlocals)
        yield from ((f".{name}", value) for name, value in values.items())


def _changed_names(code: CodeType) -> Iterator[str]:
    """Yield what code binds or changes the contents of: globals, what is in them, and attributes.

    Attributes of other objects have a dot before their names.
    """
    # By the place in the source where an expression begins: the dot or none, and names.
    loaded: dict[Any, list[str]] = {}
    for step in dis.get_instructions(code):
        begin = step.positions and step.positions[::2]
        if step.opname in ("LOAD_GLOBAL", "STORE_GLOBAL", "LOAD_ATTR", "STORE_ATTR"):
            dot = "." if step.opname.endswith("ATTR") else ""
            loaded.setdefault(begin, [dot]).append(step.argval)
        if begin in loaded and _CHANGES & {step.opname, str(step.argval)}:
            yield from (loaded[begin][0] + name for name in loaded[begin][1:])


def _is_own(thing: Any, user: Any) -> bool:
    """Whether code, or the class of an object, is the user's, or of the folder of what uses it."""
    folder = _home(thing)
    installed = "-packages" in folder or folder.startswith(_INSTALLED)
    users = os.sep in folder or folder == "__main__"
    return (users and not installed) or (user is not None and folder == _home(user))


def _home(thing: Any) -> str:
    """Return the folder of a module, or of that of a function or class; its name without one."""
    around = thing.__globals__ if isinstance(thing, FunctionType) else {}  # not what wraps() copies
    own = getattr(thing, "__module__", None) or getattr(thing, "__name__", "")
    name = str(around.get("__name__", own))
    file = getattr(sys.modules.get(name), "__file__", None)
    return os.path.dirname(file) if file else name


class _Contents(pickle.Pickler):
    """Pickles sets, whose order differs between processes, in one, and own code as its digest."""

    def __init__(self, seen: set[int]) -> None:
        super().__init__(self)
        self.seen, self.blocks, self.digest = seen, 0, hashlib.blake2b(digest_size=4)

    def write(self, block: Any) -> None:
        self.blocks += 1
        if self.blocks > 200:  # limits the time: they are of 64 KiB, but for arrays
            raise OverflowError
        self.digest.update(block)

    def persistent_id(self, value: Any) -> Any:
        code = isinstance(value, FunctionType | type)
        if code and (_is_own(value, None) or "<" in value.__qualname__):
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
    pickler = _Contents(set() if seen is None else seen)
    try:
        pickler.dump((callable(value) and code_digest(value, pickler.seen)) or value)
    except Exception:  # of another's class, or too large
        pickler.digest.update(uuid4().bytes)
    with contextlib.suppress(Exception):  # no literal
        text = repr(value) if pickler.blocks == 1 else ""
        text = reprlib.repr(value) if "{" in text else text  # a set in one order
        if literal_eval(text) == value:
            return text
    kind = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{kind} {pickler.digest.hexdigest()}"


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
