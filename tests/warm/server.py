"""Imports what the program imports, then forks for each command that it is asked for."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import types

# Of a file: making a graph, or completing one, would start the threads of OpenMP.
WARM = (
    "list samplers",
    "run pagerank {file}",
    "run connected-components {file} --undirected",
    "run neighborhood {file}",
    "sample {file} --ratio 0.5 --seed 1",
    "predict neighborhood {file} --seed 1",
)


def warm() -> None:
    """Import, and load compiled code; start no thread, which a fork would lose."""
    from predict_graph.cli import main

    load()
    threads = len(os.listdir("/proc/self/task"))  # those of OpenBLAS know of forks
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "edges.txt")
        with open(file, "w") as edges:
            edges.writelines(f"{v} {v * k % 60}\n" for v in range(60) for k in range(2, 7))
        for line in WARM:
            words = [word.format(file=file) for word in line.split()]
            words += ["--out", os.path.join(folder, "x.csv")] if words[0] == "sample" else []
            silent = io.StringIO()
            with (
                contextlib.redirect_stdout(silent),
                contextlib.redirect_stderr(silent),
                contextlib.suppress(SystemExit),
            ):
                main(words)
    # The threads of OpenMP would be missing in a fork, which then waits for them without end.
    if len(os.listdir("/proc/self/task")) > threads:
        raise RuntimeError("threads were started, which a fork would lose")


def serve(path: str) -> tuple[list[str], str, dict[str, str]]:
    """Fork for each that asks; return in the process that is to do it what it is to do."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            os._exit(0)
        connection, _ = listening.accept()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork():
            connection.close()
            continue
        listening.close()
        size, files, _, _ = socket.recv_fds(connection, 8, 3)
        text, length = b"", int.from_bytes(size, "big")
        while len(text) < length:
            text += connection.recv(length - len(text))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # Numba ends a child of the process in which it made ready for threads, whether there were
        # any or not; a grandchild it lets be.
        number = os.fork()
        if number:  # waits for it, and reports how it ended
            os.close(files[1])
            os.close(files[2])
            connection.sendall(f"{number}\n".encode())
            status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            try:
                connection.sendall(f"{status}\n".encode())
            finally:
                os._exit(0)
        connection.close()
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return json.loads(text)


def become(folder: str, env: dict[str, str]) -> None:
    """Take over folder, environment and streams, as if the process had begun with them."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None
    encoding, _, errors = env.get("PYTHONIOENCODING", "").partition(":")
    usual_encoding = sys.stdout.encoding
    for name, place, usual in (("stdin", 0, "strict"), ("stdout", 1, "strict"), ("stderr", 2, "")):
        mode = "rb" if place == 0 else "wb"
        stream = io.TextIOWrapper(
            open(place, mode, closefd=False),  # noqa: SIM115
            encoding=encoding or usual_encoding,
            errors="backslashreplace" if place == 2 else errors or usual,
            line_buffering=place == 2 or os.isatty(place),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.path[:0] = [part for part in env.get("PYTHONPATH", "").split(os.pathsep) if part]


def do(words: list[str]) -> None:
    """Run a module, code or a file, as Python itself does."""
    kind, *rest = words
    if kind == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    else:
        sys.argv = words
        sys.path.insert(0, os.path.dirname(os.path.abspath(kind)))
        runpy.run_path(kind, run_name="__main__")


def end(words: list[str]) -> int:
    """Do it, and all that Python does in the end but to free memory; return the exit status."""
    status: object = 0
    try:
        do(words)
    except SystemExit as left:
        status = left.code or 0
        if not isinstance(status, int):
            sys.stderr.write(f"{status}\n")
            status = 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = 120
    return int(status) & 0xFF


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    from tests.warm.imports import load

    warm()
    del sys.path[0]
    gc.collect()
    gc.freeze()
    asked, its_folder, its_env = serve(sys.argv[1])
    become(its_folder, its_env)
    os._exit(end(asked))
