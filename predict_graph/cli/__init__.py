"""The command line."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

ORDINARY_COLLECTION = gc.get_threshold()
"""Thresholds of the garbage collector before the program raises them."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0 done, 1 job failed, 2 wrong request, 130 interrupted."""
    # A million objects of modules stay: looking for garbage among them is a tenth of the start-up.
    gc.set_threshold(50_000)
    try:
        from predict_graph.cli.app import main as program
    except KeyboardInterrupt:  # importing takes long enough for someone to change their mind
        sys.stderr.write("error: interrupted; nothing is half written\n")
        sys.exit(130)
    else:
        program(arguments)
    finally:
        gc.set_threshold(*ORDINARY_COLLECTION)
