"""A Python of its own for a test of what happens when one starts, or ends."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import psutil


def python(*words, check=True, **options):
    """Run a Python with these words; return what it has written, and how it ended."""
    options |= {"capture_output": True, "text": True, "timeout": 600}
    return subprocess.run([sys.executable, *map(str, words)], check=check, **options)


@contextmanager
def started(*words, **options):
    """Start a Python with these words, and kill it at the end."""
    command, pipe = [sys.executable, *map(str, words)], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(holds, seconds=600.0):
    """Wait until a condition holds; fail if that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def has_ended(process):
    """Return whether a process, by its number, is not there, or waits to be collected."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def processes_of(session):
    """List the processes of a login session: those that a test started and all they started."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == session and not has_ended(process.pid):
                found.append(f"{process.pid} {' '.join(process.cmdline())[:100]}")
    return found
