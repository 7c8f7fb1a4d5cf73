"""A Python of its own for a test of what happens when one starts, or ends."""

import subprocess
import sys


def python(*words, check=True, **options):
    """Run a Python with these words; return what it has written, and how it ended."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=check, **options
    )
