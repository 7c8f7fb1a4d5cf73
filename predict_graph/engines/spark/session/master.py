"""Knocking at a standalone master: Spark itself would try for a minute and say little."""

from __future__ import annotations

import socket
import struct

from predict_graph.errors import JobError, RequestError

__all__ = ["check_master"]

_SCHEME = "spark://"
_CONNECT = 5.0  # seconds that a master may take to answer; a choice: patience
_STREAM_REQUEST, _STREAM_FAILURE = 6, 8  # kinds of messages of Spark's network layer; by definition


def check_master(master: str, *, encrypted: bool = False) -> None:
    """Check that a standalone master answers; masters of other kinds are left to Spark.

    Parameters
    ----------
    master : str
        ``spark://host:port``, or several places with commas between them: one has to answer.
    encrypted : bool
        Whether the cluster answers only those who know its secret; then any answer will do.

    Raises
    ------
    RequestError
        If a place has no port, or one that is no number.
    JobError
        If nobody is there, or somebody else is.
    """
    if not master.startswith(_SCHEME):
        return
    reasons = []
    for place in master.removeprefix(_SCHEME).split(","):
        host, colon, port = place.rpartition(":")
        if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise RequestError(f"master is {master!r}; accepted: spark://HOST:PORT")
        why_not = _knock(host, int(port), encrypted=encrypted)
        if why_not is None:
            return
        reasons.append(why_not)
    raise JobError(f"no Spark master at {master}: {reasons[-1]}")


def _knock(host: str, port: int, *, encrypted: bool) -> str | None:
    """Ask for a stream that no master has: Spark says so at once; return why it is no Spark."""
    name = b"/none/none"
    message = struct.pack(">bi", _STREAM_REQUEST, len(name)) + name
    try:
        with socket.create_connection((host, port), timeout=_CONNECT) as door:
            if encrypted:
                return None
            door.sendall(struct.pack(">q", 8 + len(message)) + message)
            answer = b""
            while len(answer) < 9 and (part := door.recv(9 - len(answer))):
                answer += part
    except TimeoutError:
        return f"no answer within {_CONNECT:.0f} s"
    except ConnectionResetError:
        return "something else is there"
    except OSError as error:
        return error.strerror or str(error)
    spoken = len(answer) == 9 and answer[8] == _STREAM_FAILURE
    return None if spoken else "something else is there"
