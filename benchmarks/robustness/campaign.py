"""Running a campaign: a process reads the cases, and is started again when it dies of one."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.robustness.formats import FORMATS

__all__ = ["BAD", "SILENCE", "Tally", "run"]

ROOT = Path(__file__).resolve().parents[2]
SILENCE = 10.0  # seconds after which a case counts as a hang
ADDRESSES = 12 << 30  # of the process that reads; most of it is never touched
# Small, so that a file that asks for much is refused here as a larger one is elsewhere.
LIMITS = (
    "unpacked_bytes=2e8,line_bytes=1e8,document_bytes=1e8,vertices=4e6,edges=16e6,stream_seconds=2"
)
EVERY = 5000
AHEAD = 64  # cases that the process has been given, so that it need not wait
BAD = ("crash", "hang", "internal error", "another content", "memory", "no sentence")


@dataclass
class Tally:
    """What became of the cases of one format."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    peak: int = 0


@dataclass(frozen=True)
class Find:
    """A case that went wrong."""

    form: int
    number: int
    outcome: str
    said: str


Report = Callable[[dict[int, Tally], list["Find"], float], None]


def run(cases: list[tuple[int, int]], seed: int, report: Report) -> list[Find]:
    """Run cases, each a place in `FORMATS` and a number; return the finds.

    `report` is called every few thousand cases, and in the end, with what there is so far and the
    seconds of the processor.
    """
    tallies: dict[int, Tally] = {}
    finds: list[Find] = []
    waiting: deque[tuple[int, int]] = deque()  # asked, not yet answered
    reader: _Reader | None = None
    used, asked = 0.0, 0
    try:
        for place in range(1, len(cases) + 1):
            if reader is None:
                reader = _Reader(seed)
                reader.ask(list(waiting))
            if len(waiting) <= AHEAD // 2 and asked < len(cases):
                more = cases[asked : asked + AHEAD]
                reader.ask(more)
                waiting += more
                asked += len(more)
            form, number = waiting.popleft()
            answer = reader.answer(SILENCE)
            if answer["outcome"] == "hang":  # once more: a busy machine is silent, too
                reader = _Reader(seed)
                reader.ask([(form, number), *waiting])
                answer = reader.answer(SILENCE)
            tally = tallies.setdefault(form, Tally())
            tally.outcomes[answer["outcome"]] += 1
            tally.slowest = max(tally.slowest, answer.get("seconds", 0.0))
            tally.peak = max(tally.peak, answer.get("peak", 0))
            used += answer.get("used", 0.0)
            if answer["outcome"] in BAD:
                finds.append(Find(form, number, answer["outcome"], answer["said"]))
                print(f"{FORMATS[form].name} {number}: {answer['outcome']}: {answer['said']}")
            if answer["outcome"] in ("crash", "hang"):
                reader = None
            if place % EVERY == 0 or place == len(cases):
                report(tallies, finds, used)
    finally:
        if reader is not None:
            reader.end()
    return finds


class _Reader:
    """The process that reads."""

    def __init__(self, seed: int) -> None:
        environment = os.environ | {
            "NUMBA_BOUNDSCHECK": "1",
            # Code with bounds checks is kept apart from that without.
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or str(_cache()),
            "PREDICT_GRAPH_LIMITS": LIMITS,
            "PREDICT_GRAPH_HISTORY": "none",
            "OMP_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.robustness.worker", str(seed), str(ADDRESSES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        self._rest = b""
        self._said: deque[bytes] = deque()
        answer = self.answer(600.0)
        if "ready" not in answer:
            raise RuntimeError(f"the process that reads did not start: {answer}")

    def ask(self, cases: list[tuple[int, int]]) -> None:
        """Ask for cases; each is answered in turn."""
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{form} {number}\n" for form, number in cases)
        self._process.stdin.flush()

    def answer(self, patience: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not self._said:
            ready, _, _ = select.select([self._process.stdout], [], [], patience)
            part = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            *whole, self._rest = (self._rest + part).split(b"\n")
            self._said += whole
            if ready and part and not whole:
                return self.answer(patience)
        else:
            ready = [self._process.stdout]
        if not ready:
            self._process.kill()
            self._process.wait()
            return {"outcome": "hang", "said": f"silent for {patience:g} s", "seconds": patience}
        if not self._said:
            status = self._process.wait()
            return {"outcome": "crash", "said": f"exit status {status}"}
        answer: dict[str, Any] = json.loads(self._said.popleft())
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def _cache() -> Path:
    return Path(sys.prefix) / "bounds-checked"
