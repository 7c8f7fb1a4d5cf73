"""What something takes, the same on any machine: lines of Python, and memory."""

import sys
import tracemalloc


def lines_run(call):
    """Return how many lines of Python a call runs, those of libraries included."""
    events = []

    def trace(frame, event, argument):
        events.append(event)
        return trace

    sys.settrace(trace)
    call()
    sys.settrace(None)
    return events.count("line")


def peak_bytes(call):
    """Return the most bytes that are allocated at a time within a call."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
