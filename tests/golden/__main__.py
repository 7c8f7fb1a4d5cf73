"""Compute the golden answers anew, and say which differ: ``python -m tests.golden [--update]``."""

import json
import sys
import tempfile
from pathlib import Path

from tests.golden.cases import FILE, answer, names, stored


def main():
    """Compare, and write with ``--update``."""
    before = stored() if FILE.exists() else {}
    found = {}
    for name in names():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = answer(name, Path(folder))
        if found[name] != before.get(name):
            sys.stderr.write(f"differs: {name}\n")
    if "--update" in sys.argv[1:]:
        lines = [json.dumps(list(each), separators=(",", ":")) + "\n" for each in found.items()]
        FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
