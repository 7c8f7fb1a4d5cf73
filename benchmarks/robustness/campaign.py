"""Running a campaign: a process reads the cases, and is started again when it dies of one."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.robustness.formats import FORMATS
from benchmarks.robustness.worker import serve

SILENCE = 10.0  # seconds after which a case counts as a hang
ADDRESSES = 12 << 30  # of the process that reads; most of it is never touched
# Small, so that a file that asks for much is refused here as a larger one is elsewhere.
LIMITS = (
    "unpacked_bytes=2e8,line_bytes=1e8,document_bytes=1e8,vertices=4e6,edges=16e6,stream_seconds=2"
)
EVERY = 5000
BAD = ("crash", "hang", "internal error", "another content", "memory", "no sentence")


@dataclass
class Tally:
    """What became of the cases of one format."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    peak: int = 0


Report = Callable[[dict[int, Tally], list[str], float], None]


def run(cases: list[tuple[int, int]], seed: int, report: Report) -> list[str]:
    """Run cases, each a place in `FORMATS` and a number; return a line for each that went wrong.

    `report` is called every few thousand cases, and in the end, with what there is so far and the
    seconds of the processor.
    """
    tallies: dict[int, Tally] = {}
    finds: list[str] = []
    used = 0.0
    reader = _Reader(seed)
    try:
        for place, (form, number) in enumerate(cases, 1):
            answer = reader.read(form, number)
            if answer["outcome"] == "hang":  # once more: a busy machine is silent, too
                reader = _Reader(seed)
                answer = reader.read(form, number)
            tally = tallies.setdefault(form, Tally())
            tally.outcomes[answer["outcome"]] += 1
            tally.slowest = max(tally.slowest, answer.get("seconds", 0.0))
            tally.peak = max(tally.peak, answer.get("peak", 0))
            used += answer.get("used", 0.0)
            if answer["outcome"] in BAD:
                name, said = FORMATS[form].name, answer["said"][:200]
                finds.append(f"{name} {number}: {answer['outcome']}: {said}")
                print(finds[-1])
            if answer["outcome"] in ("crash", "hang"):
                reader = _Reader(seed)
            if place % EVERY == 0 or place == len(cases):
                report(tallies, finds, used)
    finally:
        reader.end()
    return finds


class _Reader:
    """The process that reads, one case after the other."""

    def __init__(self, seed: int) -> None:
        environment = {
            "NUMBA_BOUNDSCHECK": "1",
            # Code with bounds checks is kept apart from that without.
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR")
            or str(Path(sys.prefix) / "bounds-checked"),
            "PREDICT_GRAPH_LIMITS": LIMITS,
            "PREDICT_GRAPH_HISTORY": "none",
            "OMP_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
        }
        context = get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=serve, args=(end, seed, ADDRESSES), daemon=True)
        with patch.dict(os.environ, environment):
            self._process.start()
        end.close()
        answer = self._answer(600.0)
        if answer["outcome"] != "ready":
            raise RuntimeError(f"the process that reads did not start: {answer}")

    def read(self, form: int, number: int) -> dict[str, Any]:
        """Return what became of a case."""
        with suppress(BrokenPipeError):  # it has died: that is the answer
            self._pipe.send((form, number))
        return self._answer(SILENCE)

    def end(self) -> None:
        self._process.kill()
        self._process.join()

    def _answer(self, patience: float) -> dict[str, Any]:
        try:
            if self._pipe.poll(patience):
                return self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            return {"outcome": "crash", "said": f"exit status {self._process.exitcode}"}
        self.end()
        return {"outcome": "hang", "said": f"silent for {patience:g} s", "seconds": patience}
