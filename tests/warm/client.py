"""Asks the warm Python for a process; only of modules that start at once."""

import json
import os
import signal
import socket
import sys

# What is read when Python, or a library, is loaded.
AT_START = ("PYTHON", "NUMBA_", "OMP_", "LC_", "LANG", "LD_", "MALLOC_", "_PREDICT_GRAPH")
LATER = ("PYTHONPATH", "PYTHONIOENCODING")


def read_at_start(env):
    """Return the part of an environment that is read once."""
    return {k: v for k, v in env.items() if k.startswith(AT_START) and k not in LATER}


def alike(asked, given):
    """Tell whether a process that has started with one environment can go on with the other."""
    return read_at_start(asked) == read_at_start(given)


def ask(path, words, folder, env, files):
    """Have a process run; return its exit status, negative for a signal as in subprocess."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        text = json.dumps([words, folder, env]).encode()
        socket.send_fds(connection, [len(text).to_bytes(8, "big")], files)
        connection.sendall(text)
        with connection.makefile("r") as answers:
            number = int(answers.readline())
            try:
                return int(answers.readline())
            except KeyboardInterrupt:
                os.kill(number, signal.SIGINT)
                return int(answers.readline())


def main(path, python, words, given):
    """Be the program: run where the warm Python forks, or start a Python."""
    words = [*words, *sys.argv[1:]]
    env = dict(os.environ)
    if not words or (words[0] not in ("-c", "-m") and words[0][:1] == "-") or not alike(env, given):
        os.execv(python, [python, *words])
    status = ask(path, words, os.getcwd(), env, [0, 1, 2])
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
