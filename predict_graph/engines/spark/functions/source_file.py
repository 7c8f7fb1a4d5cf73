"""Loading a user's Python file so that Spark can send its functions to executors."""

from __future__ import annotations

import hashlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from predict_graph.errors import RequestError
from predict_graph.plugins import described_error


def load_module(file: Path) -> ModuleType:
    """Load a Python file; again if it has changed.

    Its folder is on the import path while it is loaded.
    """
    try:
        source = file.read_bytes()
    except OSError as error:
        raise RequestError(f"cannot read {file}: {error.strerror}") from error
    digest = hashlib.blake2b(str(file).encode() + b"\0" + source, digest_size=6).hexdigest()
    name = f"spark_function_{file.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        exec(compile(source, str(file), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise RequestError(f"cannot load {file}: {_described(error, file)}") from error
        raise
    finally:
        sys.path.remove(str(file.parent))
    _send_by_value(module)
    return module


def _send_by_value(module: ModuleType) -> None:
    """Make Spark serialize the functions of a module by value: executors do not have the file."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(module)


def _described(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == str(file)
    ]
    at = f"line {frames[-1]}: " if frames else ""
    if isinstance(error, SystemExit):
        return f"{at}it ends the program (SystemExit)"
    return f"{at}{described_error(error)}"
