"""How long something takes beside a loop in Python, which is as slow as the machine is."""

import time


def million_loops(call, repeats=3):
    """Return the processor time of a call, in loops over a million numbers; the least of some."""
    calls, loops = [], []
    for _ in range(repeats):
        loops.append(_spent(_loop))
        calls.append(_spent(call))
    return min(calls) / min(loops)


def _loop():
    for _ in range(1_000_000):
        pass


def _spent(call):
    began = time.process_time()
    call()
    return time.process_time() - began
