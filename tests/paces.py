"""How long something takes beside a loop in Python, which is as slow as the machine is."""

import time
import timeit


def million_loops(call):
    """Return the processor time of a call, in loops over a million numbers; the least of three."""
    return _least_seconds(call) / _least_seconds("for _ in range(1_000_000): pass")


def _least_seconds(statement):
    return min(timeit.Timer(statement, "gc.enable()", time.process_time).repeat(repeat=3, number=1))
