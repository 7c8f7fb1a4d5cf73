"""A storage server that gives blocks of files, its client, and a proxy that delays.

    python -m benchmarks.nimo.storage read HOST PORT NAME [--block 65536] [--ahead 1]

writes a remote file to standard output, asking for one block after the other as a file system does;
``--ahead`` is how many are asked for before they are needed.
"""

from __future__ import annotations

import argparse
import queue
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_ASK = struct.Struct("!64sQI")  # name, offset, length
_GIVE = struct.Struct("!I")
_CHUNK = 1 << 16


def serve_files(folder: Path, host: str) -> int:
    """Give blocks of the files in a folder from now on; return the port."""

    def answer(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as requests, suppress(OSError):
            while asked := requests.read(_ASK.size):
                name, offset, length = _ASK.unpack(asked)
                with (folder / name.rstrip(b"\0").decode()).open("rb") as file:
                    file.seek(offset)
                    block = file.read(length)
                connection.sendall(_GIVE.pack(len(block)) + block)

    return _accepting(host, answer)


def delay_to(target: tuple[str, int], host: str, seconds: float) -> int:
    """Start a proxy to `target` that holds back whatever comes from there; return its port."""

    def answer(near: socket.socket) -> None:
        far = socket.create_connection(target)
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_pump, args=(near, far, 0.0), daemon=True).start()
        _pump(far, near, seconds)

    return _accepting(host, answer)


def _pump(source: socket.socket, target: socket.socket, delay: float) -> None:
    """Move bytes, each of them `delay` seconds after it came."""
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue(maxsize=4096)

    def send() -> None:
        with suppress(OSError):
            while True:
                due, chunk = waiting.get()
                if not chunk:
                    target.shutdown(socket.SHUT_WR)
                    return
                left = due - time.perf_counter()
                if left > 0:
                    time.sleep(left)
                target.sendall(chunk)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    chunk = b"x"
    while chunk:
        try:
            chunk = source.recv(_CHUNK)
        except OSError:
            chunk = b""
        waiting.put((time.perf_counter() + delay, chunk))
    sender.join()


def _accepting(host: str, answer: Callable[[socket.socket], None]) -> int:
    """Answer each connection to a port in a thread of its own from now on; return the port."""
    listening = socket.create_server((host, 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(listening.getsockname()[1])


def read_file(host: str, port: int, name: str, block: int, ahead: int) -> None:
    """Write a remote file to standard output."""
    out = sys.stdout.buffer
    connection = socket.create_connection((host, port))
    with connection, connection.makefile("rb") as answers:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = given = 0
        while True:
            while asked < given + ahead:
                connection.sendall(_ASK.pack(name.encode(), asked * block, block))
                asked += 1
            (length,) = _GIVE.unpack(answers.read(_GIVE.size))
            if length == 0:
                return
            out.write(answers.read(length))
            given += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["read"])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("name")
    parser.add_argument("--block", type=int, default=65536)
    parser.add_argument("--ahead", type=int, default=1)
    given = parser.parse_args()
    read_file(given.host, given.port, given.name, given.block, given.ahead)


if __name__ == "__main__":
    main()
