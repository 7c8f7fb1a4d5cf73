"""What something takes: the time beside a loop in Python, as slow as the machine is; memory."""

import time
import timeit
import tracemalloc


def million_loops(call):
    """Return the processor time of a call, in loops over a million numbers; the least of three."""
    return _least_seconds(call) / _least_seconds("for _ in range(1_000_000): pass")


def peak_bytes(call):
    """Return the most bytes that are allocated at a time within a call."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _least_seconds(statement):
    return min(timeit.Timer(statement, "gc.enable()", time.process_time).repeat(repeat=3, number=1))
