"""Writing files so that nothing is ever half written."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from predict_graph.errors import JobError, RequestError, explained_by_system


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the file that can be put at `path`: of a link, what it points to."""
    path = Path(path)
    with explained_by_system(f"cannot write {path}"):  # a name that is too long
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        folder = target.parent
        taken = path.exists() and not path.is_file()
    if taken:
        kind = "a folder" if path.is_dir() else "no regular file"
        raise RequestError(f"cannot write {path}: it is {kind}; accepted: the name of a file")
    if not folder.is_dir():
        raise RequestError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise RequestError(f"cannot write {path}: the folder {folder} is not writable")
    return target


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the name of a file beside `path`; it takes the place of `path` when all went well.

    A link stays a link: what it points to is replaced.
    """
    path, target = Path(path), check_writable(path)
    beside = target.with_name(f".{secrets.token_hex(6)}.part{path.suffix}")
    try:
        yield beside
        os.replace(beside, target)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise RequestError(f"cannot write {path}: {error.strerror}") from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise JobError(f"writing {path} failed: {reason}") from error
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file; what was there stays if that fails."""
    with written_beside(path) as beside:
        beside.write_text(text, encoding="utf-8", errors="backslashreplace")
