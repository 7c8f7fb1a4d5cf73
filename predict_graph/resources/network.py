"""Speed of the network: one round trip, and a stream, to this machine or to another."""

from __future__ import annotations

import errno
import os
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from predict_graph.errors import JobError, RequestError
from predict_graph.limits import beyond, limits, whole_number
from predict_graph.resources.profile import Measured
from predict_graph.resources.repeating import summed_up
from predict_graph.timing import clock

__all__ = ["check_peer", "measure_network", "serve"]

_ASK = struct.Struct("!Q")  # how many bytes to send back
_BLOCK = 1 << 18  # a choice: bytes at a time
# How long is measured: some seconds in all; docs/resources.md says how near runs in a row are.
_ROUND_TRIPS = 200
_FIRST_BYTES = 1 << 20
_WINDOW = 0.25
_REPEATS = 5
_PATIENCE = 5.0
_MOST_BYTES = 1 << 30

# Of those who are answered.
_ZEROS = memoryview(bytes(_BLOCK))
_MOST_CLIENTS = 1024  # a choice
_OTHER_FILES = 64  # open files of this process beside the connections; a choice
_IDLE = 30.0  # seconds; a choice
_LONGEST = 600.0  # seconds; a choice
_LOOK = 1.0  # seconds; a choice


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
    number = whole_number(port, 65535)
    if not (colon and host and number):
        raise RequestError(f"the peer is {peer!r}; accepted: HOST:PORT of calibrate --serve PORT")
    return host, number


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

    One thread serves all, in turns, with a buffer that they share. As many may be connected as the
    process may have files open, 1,024 at most; the next one takes the place of the one that has
    been silent longest. One that is silent for half a minute, or takes nothing of what it asked
    for, is left, and so is one that has been here for ten.

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
        listening = socket.create_server((host, port), backlog=1024)
    except OSError as error:
        raise JobError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    with listening, selectors.DefaultSelector() as selector:
        listening.setblocking(False)
        selector.register(listening, selectors.EVENT_READ)
        if ready is not None:
            ready(listening.getsockname()[1])
        clients = _Clients(selector)
        while True:
            for key, _ in selector.select(_LOOK):
                if key.data is None:
                    clients.accept(listening)
                else:
                    clients.serve(key.data)
            clients.leave_silent()


@dataclass(eq=False)
class _Client:
    """One connection: what is known of its question, and how much of the answer is left."""

    connection: socket.socket
    since: float
    moved: float
    asked: bytes = b""
    left: int = 0


class _Clients:
    """All connections, the one that has moved last at the end."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._clients: dict[_Client, None] = {}
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = max(min(_MOST_CLIENTS, soft - _OTHER_FILES), 1)

    def accept(self, listening: socket.socket) -> None:
        """Take up a new connection; the one silent for longest makes room."""
        try:
            connection, _ = listening.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
                self._most = max(len(self._clients) - 1, 1)
                self._leave_oldest()
            return
        while len(self._clients) >= self._most:
            self._leave_oldest()
        now = time.monotonic()
        client = _Client(connection, now, now)
        with suppress(OSError):
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._clients[client] = None
        self._selector.register(connection, selectors.EVENT_READ, client)

    def serve(self, client: _Client) -> None:
        """Read a part of the question, or send a part of the answer."""
        if client not in self._clients:
            return  # left while this event was waiting
        try:
            moved = self._send(client) if client.left else self._read(client)
        except BlockingIOError:
            return
        except OSError:
            moved = False
        if not moved:
            self._leave(client)
            return
        client.moved = time.monotonic()
        del self._clients[client]
        self._clients[client] = None

    def _read(self, client: _Client) -> bool:
        part = client.connection.recv(_ASK.size - len(client.asked))
        client.asked += part
        if len(client.asked) == _ASK.size:
            client.left = min(int(_ASK.unpack(client.asked)[0]), _MOST_BYTES)
            client.asked = b""
            if client.left:
                # Most answers are short, and leave at once.
                with suppress(BlockingIOError):
                    self._send(client)
                self._wait_for(client)
        return bool(part)

    def _send(self, client: _Client) -> bool:
        client.left -= client.connection.send(_ZEROS[: min(client.left, _BLOCK)])
        self._wait_for(client)
        return True

    def _wait_for(self, client: _Client) -> None:
        wanted = selectors.EVENT_WRITE if client.left else selectors.EVENT_READ
        if self._selector.get_key(client.connection).events != wanted:
            self._selector.modify(client.connection, wanted, client)

    def leave_silent(self) -> None:
        """Leave those who have not moved for too long, or are here for too long."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _LOOK
        for client in list(self._clients):
            if now - client.moved > _IDLE or now - client.since > _LONGEST:
                self._leave(client)

    _next = 0.0

    def _leave_oldest(self) -> None:
        for client in self._clients:
            self._leave(client)
            return

    def _leave(self, client: _Client) -> None:
        del self._clients[client]
        with suppress(OSError, KeyError, ValueError):
            self._selector.unregister(client.connection)
        client.connection.close()


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


class _Peer:
    """A connection to those who answer, which ends in time even if they are slow.

    Each wait is as long as what is left of the whole.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._end = time.monotonic() + limits().peer_seconds
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, count: int) -> None:
        """Ask for so many bytes."""
        self._wait()
        self._connection.sendall(_ASK.pack(count))

    def take(self, buffer: memoryview) -> int:
        """Fill a part of the buffer; return how much."""
        self._wait()
        try:
            got = self._connection.recv_into(buffer)
        except TimeoutError:
            self._wait()  # says so when the time for the whole is over
            raise
        if not got:
            raise ConnectionResetError("the connection was closed")
        return got

    def _wait(self) -> None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise JobError(
                f"measuring the network took too long; accepted: up to {beyond('peer_seconds')}"
            )
        self._connection.settimeout(min(left, _PATIENCE))


def _measured(peer: tuple[str, int]) -> dict[str, Measured]:
    try:
        with socket.create_connection(peer, timeout=_PATIENCE) as connection:
            trips, rates = _in_turns(_Peer(connection))
    except (OSError, UnicodeError) as error:
        where = f"{peer[0]}:{peer[1]}"
        reason = getattr(error, "strerror", None) or error
        raise JobError(
            f"{where} does not answer ({reason}); does calibrate --serve {peer[1]} run there?"
        ) from error
    return {
        "network_latency": summed_up(
            [1e3 * seconds for seconds in trips], "ms", less_is_better=True
        ),
        "network_bandwidth": summed_up([rate / 1e6 for rate in rates], "MB/s"),
    }


def _in_turns(peer: _Peer) -> tuple[list[float], list[float]]:
    """Return seconds of round trips, and bytes a second of streams, of several rounds of both."""
    trips: list[float] = []
    rates: list[float] = []
    count = _FIRST_BYTES
    while len(rates) < _REPEATS:
        trips += _round_trips(peer)
        seconds = _stream(peer, count)
        while seconds < _WINDOW / 2 and count < _MOST_BYTES:
            more = min(max(_WINDOW / max(seconds, 1e-4), 2.0), 16.0)
            count = min(int(count * more), _MOST_BYTES)
            seconds = _stream(peer, count)
        rates.append(count / seconds)
    return trips, rates


def _round_trips(peer: _Peer) -> list[float]:
    found, begun = [], clock.wall()
    buffer = memoryview(bytearray(8))
    for number in range(_ROUND_TRIPS + 1):
        started = clock.wall()
        peer.ask(8)
        left = 8
        while left:
            left -= peer.take(buffer[:left])
        if number:  # the first one finds nothing ready
            found.append(clock.wall() - started)
        if found and clock.wall() - begun > _WINDOW:
            break
    return found


def _stream(peer: _Peer, count: int) -> float:
    """Return the seconds that so many bytes take."""
    buffer = memoryview(bytearray(_BLOCK))
    started = clock.wall()
    peer.ask(count)
    left = count
    while left > 0:
        left -= peer.take(buffer[: min(left, _BLOCK)])
    return clock.wall() - started
