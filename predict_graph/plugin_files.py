"""Plug-ins in a Python file of the user, which registers them as it is loaded."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import os
import pickle
import re
import reprlib
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

from predict_graph.errors import RequestError, described_error
from predict_graph.inputs import read_bytes
from predict_graph.plugins import Registry, registrations


@dataclass(frozen=True)
class _Loaded:
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


def code_digest(function: Any) -> str:
    """Return a digest of the source of a function or class, and of what it uses of its folder.

    Of that it takes numbers, texts, modules, and functions and classes in the same way; of what it
    holds itself, defaults and variables around it, all contents. It is empty where there is no
    source.

    Examples
    --------
    >>> len(code_digest(code_digest)), code_digest(len), code_digest(eval("lambda: n", {"n": 1}))
    (16, '', '')
    """
    source = _source(function, set())
    return hashlib.blake2b(source.encode(), digest_size=8).hexdigest() if source else ""


class _Pickler(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        """Order what a set holds, as processes do not: by their hashes of texts."""
        return sorted(map(repr, value)) if isinstance(value, set | frozenset) else None


def content_text(value: Any) -> str:
    """Return a text of a value that equal contents have alone; one that it never has again if none.

    Examples
    --------
    >>> content_text([1, "b"]), content_text(code_digest)[:12]
    ("[1, 'b']", 'code_digest ')
    >>> import numpy
    >>> given = numpy.array([1.0]), numpy.array([1.0 + 1e-9]), lambda: 1, lambda: 2
    >>> [*map(content_text, given)] == [*map(content_text, given)]
    True
    >>> len({*map(content_text, given)})
    4
    >>> many = range(0, 800, 8)  # whose order in a set depends on which comes first
    >>> content_text([{*many}]) == content_text([{*reversed(many)}])
    True
    """
    text = reprlib.repr(value)
    with contextlib.suppress(Exception):  # no literal: arrays are rounded, for example
        if "..." not in text and ast.literal_eval(text) == value:
            return text
    digest, blocks = hashlib.blake2b(digest_size=4), iter(range(200))

    def write(block: Any) -> None:
        next(blocks)  # limits the time: they are of 64 KiB
        digest.update(block)

    try:
        _Pickler(SimpleNamespace(write=write)).dump(code_digest(value) or value)
    except Exception:  # of another's class, or too large
        digest.update(uuid4().bytes)
    return f"{getattr(value, '__qualname__', type(value).__qualname__)} {digest.hexdigest()}"


def _source(thing: Any, seen: set[int]) -> str:
    seen.add(id(thing))
    source, numbers = "", ""
    with contextlib.suppress(OSError, TypeError):
        source = inspect.getsource(thing)
    if not (source or isinstance(thing, type)):  # of a class in a notebook methods alone have one
        return ""
    for name, each in sorted(_used_by(thing).items()):
        if isinstance(each, _CONSTANTS) and not name.startswith("__"):
            numbers += name + content_text(each)
        elif id(each) not in seen and _home(each) == _home(thing):
            source += _source(each, seen)
    return source and source + numbers


def _home(thing: Any) -> str:
    """Return the folder of a module, or of that of a function or class; its name without one."""
    name = str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))
    file = getattr(sys.modules.get(name), "__file__", None)
    return os.path.dirname(file) if file else name


def _used_by(thing: Any) -> dict[str, Any]:
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
        if isinstance(each, type | FunctionType | ModuleType):
            around[f"its {name}"] = each
        else:
            around |= {f"its {name}": content_text(each), f"type of {name}": type(each)}
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
