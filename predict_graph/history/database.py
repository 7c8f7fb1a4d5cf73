"""The SQLite file: schema, connections, and errors in the words of the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from predict_graph.errors import JobError, RequestError, explained_by_system

SCHEMA_VERSION = 1  # by definition
APPLICATION_ID = 0x50475248  # by definition: "PGRH" distinguishes our files from other programs'

FIELDS = (
    *("uid", "time", "kind", "algorithm", "parameters", "graph", "fingerprint"),
    *("vertices", "edges", "directed", "engine", "machine", "version", "phases"),
    *("iterations", "converged", "sample", "sample_of"),
)
WHOLE_NUMBERS = ("vertices", "edges", "directed", "iterations", "converged")
OPTIONAL = ("converged", "sample", "sample_of")

_COLUMNS = {
    name: ("INTEGER" if name in WHOLE_NUMBERS else "TEXT")
    + ("" if name in OPTIONAL else " NOT NULL")
    for name in FIELDS
} | {"uid": "TEXT NOT NULL UNIQUE"}
_STATEMENTS = (
    "CREATE TABLE runs ( id INTEGER PRIMARY KEY, "
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + " )",
    "CREATE INDEX runs_algorithm ON runs (algorithm, time)",
    "CREATE INDEX runs_time ON runs (time)",
    "CREATE TABLE tables ( run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, "
    "types TEXT NOT NULL, rows INTEGER NOT NULL, cells BLOB NOT NULL )",
)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, which may be absent, to read one consistent state."""
    with _explained(path, "read"):
        # A file to read alone is opened as that.
        there = path.exists() and path.stat().st_size  # another process may just be making it
        address = f"{path.absolute().as_uri()}?mode=rw" if there else "file::memory:"
        with _connected(address) as connection:
            version = _check(connection, path)
            connection.execute("BEGIN")
            if version == 0:
                _create(connection)  # undone as the connection is closed
            yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file, made if need be, for one transaction: all of it is kept, or nothing."""
    with _explained(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _connected(path.absolute().as_uri()) as connection:
            _check(connection, path)
            connection.execute("BEGIN IMMEDIATE")
            # Looked at again under the lock: another process may have made the schema meanwhile.
            if _check(connection, path) == 0:
                _create(connection)
            yield connection
            connection.execute("COMMIT")


def compact(path: Path) -> None:
    """Give the space of deleted rows back to the disk, unless another process is in the way."""
    with suppress(sqlite3.Error), _connected(path.absolute().as_uri()) as connection:
        connection.execute("VACUUM")


@contextmanager
def _connected(address: str, wait: float = 30.0) -> Iterator[sqlite3.Connection]:
    """Give a connection, which waits so many seconds for the lock of another process.

    Closing it rolls back what was not committed.
    """
    connection = sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None)
    with closing(connection):
        for setting in ("trusted_schema = OFF", "foreign_keys = ON", "synchronous = FULL"):
            connection.execute(f"PRAGMA {setting}")
        yield connection


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of the file, 0 if it is empty."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' "
        "ESCAPE '!'"  # but for SQLite's own
    ).fetchmany(len(_STATEMENTS) + 1)
    made = {" ".join(sql.split()) for (sql,) in rows}
    if owner != APPLICATION_ID and (owner or version or made):
        raise RequestError(
            f"{path} is an SQLite file of another program, not a history; name another file"
        )
    if version > SCHEMA_VERSION:
        raise RequestError(
            f"the history {path} is of version {version}, newer than {SCHEMA_VERSION}, the newest "
            "that this program knows; update predict-graph, or name another history file"
        )
    # A view, a trigger or a check of a stranger's file may have no end.
    if version and made != set(_STATEMENTS):
        raise RequestError(
            f"{path} has other tables, views or triggers than a history; accepted: a file as "
            "predict-graph made it, or another file"
        )
    return int(version)


def _create(connection: sqlite3.Connection) -> None:
    for statement in _STATEMENTS:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def damaged(path: Path, how: str) -> RequestError:
    """Build the error for a history that is not as it was written."""
    return RequestError(
        f"the history {path} is damaged{how}; move it away to start a new one, or name another "
        "history file"
    )


@contextmanager
def _explained(path: Path, what: str) -> Iterator[None]:
    failure = f"the history {path} could not be {what}"
    try:
        with explained_by_system(failure, JobError):
            if path.is_dir():
                raise RequestError(f"{path} is a folder, but a history is one file")
            yield
    except UnicodeDecodeError as error:
        raise damaged(path, ": it has text that is not UTF-8") from error
    except OverflowError as error:  # of sqlite3, whose whole numbers have 64 bits
        raise RequestError(f"the history {path} keeps no number beyond 64 bits") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        reason = " ".join(str(error).split())
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise damaged(path, f" or not a history ({reason})") from error
        raise JobError(f"{failure}: {reason}") from error
