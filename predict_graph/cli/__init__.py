"""The command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0 done, 1 job failed, 2 wrong request, 130 interrupted."""
    try:
        from predict_graph.cli.app import main as program
    except KeyboardInterrupt:  # importing takes long enough for someone to change their mind
        sys.stderr.write("error: interrupted; nothing is half written\n")
        sys.exit(130)
    program(arguments)
