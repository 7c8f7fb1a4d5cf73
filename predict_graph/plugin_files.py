"""Plug-ins in a Python file of the user, which registers them as it is loaded."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import pickle
import re
import reprlib
import sys
import traceback
from ast import literal_eval
from collections.abc import Iterable
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


_LOADED: dict[Path, _Loaded] = {}
_CONSTANTS = (int, float, str, tuple, list, dict, set, frozenset)


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


def code_digest(function: Any, seen: set[int] | None = None) -> str:
    """Return a digest of the source of a function or class, and of what it uses of its folder.

    Of that it takes numbers, texts, containers, modules, and functions and classes in the same way;
    of what it holds itself, defaults and variables around it, all contents. It is empty where there
    is no source. What has been `seen` is not taken again: functions may use each other.

    Examples
    --------
    >>> len(code_digest(code_digest)), code_digest(len), code_digest(eval("lambda: n", {"n": 1}))
    (16, '', '')
    """
    source = "seen" if id(function) in (seen or ()) else _source(function, seen or set())
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


def _source(thing: Any, seen: set[int]) -> str:
    source, numbers = "", ""
    with contextlib.suppress(OSError, TypeError):
        source = inspect.getsource(thing)
    if not (source or isinstance(thing, type)):  # of a class in a notebook methods alone have one
        return ""
    seen.add(id(thing))
    for name, each in sorted(_used_by(thing, seen).items()):
        if isinstance(each, _CONSTANTS) and not name.startswith("__"):
            numbers += name + content_text(each, seen)
        elif id(each) not in seen and _home(each) == _home(thing):
            source += _source(each, seen)
    return source and source + numbers


def _home(thing: Any) -> str:
    """Return the folder of a module, or of that of a function or class; its name without one."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    file = getattr(sys.modules.get(name), "__file__", None)
    return os.path.dirname(file) if file else name


def _used_by(thing: Any, seen: set[int]) -> dict[str, Any]:
    """Return what a function has by name around it, or a class inside it, with its bases."""
    if isinstance(thing, type):
        inside = {name: getattr(each, "fget", each) for name, each in vars(thing).items()}
        return inside | {base.__name__: base for base in thing.__bases__}
    function = inspect.unwrap(getattr(thing, "__func__", thing))
    if not inspect.isfunction(function):
        return {}
    codes, around = [function.__code__], dict[str, Any]()
    for code in codes:  # those inside it, of comprehensions as well, are added
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        around |= {name: function.__globals__.get(name) for name in code.co_names}
        constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
        around[f"its code {len(around)}"] = (code.co_code, *code.co_names, *constants)
    held: dict[Any, Any] = dict(enumerate(function.__defaults__ or ()))
    held |= {"self": getattr(thing, "__self__", None), **(function.__kwdefaults__ or {})}
    with contextlib.suppress(ValueError):  # what has no value yet
        held |= dict(inspect.getclosurevars(function).nonlocals)
    for name, each in held.items():
        own = isinstance(each, type | FunctionType | ModuleType)
        around[f"its {name}"] = each if own else content_text(each, seen)
        around[f"type of {name}"] = type(each)
    return around


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
