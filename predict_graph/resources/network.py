"""Network latency and bandwidth to another machine."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from predict_graph.addresses import host_and_port, place
from predict_graph.errors import JobError, RequestError, explained, explained_by_system
from predict_graph.limits import beyond, limits
from predict_graph.resources.profile import Measured
from predict_graph.timing import clock

_ASK = struct.Struct("!Q")  # number of bytes to send back
_ZEROS = memoryview(bytes(1 << 18))  # content of all replies; limits the memory of a write


def check_peer(peer: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``."""
    found = host_and_port(peer)
    if found is None or not all(found):
        raise RequestError(f"the peer is {peer!r}; accepted: HOST:PORT of calibrate --serve PORT")
    return found


def serve(port: int, host: str = "127.0.0.1", ready: Callable[[str], object] = str) -> None:
    """Serve measurements of other machines, until interrupted.

    One thread serves all clients. They are disconnected after five seconds without progress, and
    after ten minutes; one for whom no file can be opened waits until another is.
    """

    async def serving() -> None:
        with explained_by_system(f"cannot listen on {place(host, port)}", JobError):
            server = await asyncio.start_server(_answer, host, port, backlog=1024)
        ready(place(host, server.sockets[0].getsockname()[1]))
        await server.serve_forever()

    asyncio.run(serving())


async def _answer(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    most: int = 1 << 30,
    patience: float = 5.0,
) -> None:
    """Send a client as many bytes as each of its requests says, up to `most`."""
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(600.0):
            while True:
                asked = await asyncio.wait_for(reader.readexactly(_ASK.size), patience)
                left = min(int(_ASK.unpack(asked)[0]), most)
                while left:
                    part = min(left, len(_ZEROS))
                    writer.write(_ZEROS[:part])
                    await asyncio.wait_for(writer.drain(), patience)
                    left -= part
    writer.close()


def measure_network(peer: tuple[str, int], patience: float = 5.0) -> dict[str, Measured]:
    """Measure the network to another machine, which serves measurements."""
    said = f"{place(*peer)} does not answer as calibrate --serve {peer[1]} does"
    with (
        explained(said, JobError, (OSError, UnicodeError)),
        socket.create_connection(peer, timeout=patience) as connection,
    ):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips, rates = _in_turns(connection)
    return {
        "network_latency": Measured.of([1e3 * trip for trip in trips], "ms", less_is_better=True),
        "network_bandwidth": Measured.of([rate / 1e6 for rate in rates], "MB/s"),
    }


def _in_turns(
    connection: socket.socket, repeats: int = 5, window: float = 0.2, most: int = 1 << 30
) -> tuple[list[float], list[float]]:
    """Return seconds of round trips, and bytes per second of streams, from alternating rounds."""
    trips: list[float] = []
    rates: list[float] = []
    fetch = partial(_fetch, connection, time.monotonic() + limits().peer_seconds)
    count = len(_ZEROS)
    while len(rates) < repeats:
        fetch(_ASK.size)  # a warm-up
        begun = clock.wall()
        while clock.wall() - begun < window:
            trips.append(fetch(_ASK.size))
        while (seconds := fetch(count)) < window / 2 and count < most:
            count = min(4 * count, most)
        rates.append(count / seconds)
    return trips, rates


def _fetch(connection: socket.socket, end: float, count: int) -> float:
    """Return the seconds to ask for so many bytes and to receive them, before the end of all."""
    buffer = bytearray(min(count, len(_ZEROS)))
    started, left = clock.wall(), count
    connection.sendall(_ASK.pack(count))
    while left:
        if time.monotonic() > end:
            raise JobError(
                f"measuring the network took too long; accepted: up to {beyond('peer_seconds')}"
            )
        got = connection.recv_into(buffer, min(left, len(buffer)))
        if not got:
            raise ConnectionResetError("the connection was closed")
        left -= got
    return clock.wall() - started
