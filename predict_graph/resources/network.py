"""Speed of the network: one round trip, and a stream, to this machine or to another."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from predict_graph.errors import JobError, RequestError
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import summed_up

__all__ = ["check_peer", "measure_network", "serve"]

_ASK = struct.Struct("!Q")  # how many bytes to send back
_BLOCK = 1 << 18
# How long is measured: some seconds in all; docs/resources.md says how near runs in a row are.
_ROUND_TRIPS = 200
_FIRST_BYTES = 1 << 20
_WINDOW = 0.25
_REPEATS = 5
_PATIENCE = 5.0
_MOST_BYTES = 1 << 32


def check_peer(peer: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``.

    Raises
    ------
    RequestError
        If it is something else.

    Examples
    --------
    >>> check_peer("10.0.0.7:7070")
    ('10.0.0.7', 7070)
    """
    host, colon, port = peer.rpartition(":")
    if not (colon and host and port.isdigit() and 0 < int(port) < 65536):
        raise RequestError(f"the peer is {peer!r}; accepted: HOST:PORT of calibrate --serve PORT")
    return host, int(port)


def measure_network(peer: tuple[str, int] | None = None) -> dict[str, Measured]:
    """Measure the network to a peer, the loopback device by default.

    Parameters
    ----------
    peer : tuple of (str, int), optional
        Host and port of another machine that runs :func:`serve`.

    Returns
    -------
    dict of str to Measured
        ``network_latency`` in ms (one round trip of 8 bytes) and ``network_bandwidth`` in MB/s
        (bytes that come back).

    Raises
    ------
    JobError
        If the peer does not answer.
    """
    if peer is not None:
        return _measured(peer)
    # On two cores of their own: on one they would take turns, which is another kind of latency.
    cores = sorted(os.sched_getaffinity(0))
    with _own_server(cores[-1]) as port, _on_core(cores[0]):
        return _measured(("127.0.0.1", port))


def serve(port: int, host: str = "127.0.0.1", ready: Callable[[int], None] | None = None) -> None:
    """Answer those who measure, until interrupted.

    Parameters
    ----------
    port : int
        0 for any that is free.
    host : str
        Address to listen on.
    ready : callable, optional
        Is told the port.

    Raises
    ------
    JobError
        If the address cannot be had.
    """
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise JobError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    with listening:
        if ready is not None:
            ready(listening.getsockname()[1])
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()


@contextmanager
def _on_core(core: int) -> Iterator[None]:
    """Keep this thread on one core for a while."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _own_server(core: int) -> Iterator[int]:
    """Start a process that answers; in this one the two would wait for each other's Python."""
    command = [sys.executable, "-c", f"from {__name__} import _serve_here; _serve_here({core})"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            if not said:
                raise JobError("the process that answers on the loopback device did not start")
            yield int(said)
        finally:
            process.kill()


def _serve_here(core: int) -> None:
    """Answer, and say on which port, until the standard input ends with the one who asked."""

    def watch() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    os.sched_setaffinity(0, {core})
    threading.Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(0, ready=lambda port: print(port, flush=True))


def _answer(connection: socket.socket) -> None:
    """Send as many bytes as are asked for, again and again."""
    block = bytes(_BLOCK)
    with connection, suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while asked := _received(connection, _ASK.size):
            left = min(int(_ASK.unpack(asked)[0]), _MOST_BYTES)
            while left > 0:
                part = min(left, _BLOCK)
                connection.sendall(block[:part])
                left -= part


def _received(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            return b""
        found += part
    return found


def _measured(peer: tuple[str, int]) -> dict[str, Measured]:
    try:
        with socket.create_connection(peer, timeout=_PATIENCE) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            trips, rates = _in_turns(connection)
    except OSError as error:
        where = f"{peer[0]}:{peer[1]}"
        raise JobError(
            f"{where} does not answer ({error.strerror or error}); does calibrate --serve "
            f"{peer[1]} run there?"
        ) from error
    return {
        "network_latency": summed_up(
            [1e3 * seconds for seconds in trips], "ms", less_is_better=True
        ),
        "network_bandwidth": summed_up([rate / 1e6 for rate in rates], "MB/s"),
    }


def _in_turns(connection: socket.socket) -> tuple[list[float], list[float]]:
    """Return seconds of round trips, and bytes a second of streams, of several rounds of both."""
    trips: list[float] = []
    rates: list[float] = []
    count = _FIRST_BYTES
    while len(rates) < _REPEATS:
        trips += _round_trips(connection)
        seconds = _stream(connection, count)
        while seconds < _WINDOW / 2 and count < _MOST_BYTES // 4:
            count = int(count * min(max(_WINDOW / max(seconds, 1e-4), 2.0), 16.0))
            seconds = _stream(connection, count)
        rates.append(count / seconds)
    return trips, rates


def _round_trips(connection: socket.socket) -> list[float]:
    found, begun = [], time.perf_counter()
    for number in range(_ROUND_TRIPS + 1):
        started = time.perf_counter()
        connection.sendall(_ASK.pack(8))
        if not _received(connection, 8):
            raise ConnectionResetError("the connection was closed")
        if number:  # the first one finds nothing ready
            found.append(time.perf_counter() - started)
        if found and time.perf_counter() - begun > _WINDOW:
            break
    return found


def _stream(connection: socket.socket, count: int) -> float:
    """Return the seconds that so many bytes take."""
    buffer = bytearray(_BLOCK)
    started = time.perf_counter()
    connection.sendall(_ASK.pack(count))
    left = count
    while left > 0:
        got = connection.recv_into(buffer, min(left, _BLOCK))
        if not got:
            raise ConnectionResetError("the connection was closed")
        left -= got
    return time.perf_counter() - started
