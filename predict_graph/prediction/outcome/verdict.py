"""The answer in one sentence: how long, mostly what, whether it is worth predicting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from predict_graph.answers import sure
from predict_graph.cores import Load
from predict_graph.durations import readable_seconds
from predict_graph.engines import PHASE_NAMES
from predict_graph.intervals import Interval
from predict_graph.prediction.memory import PeakMemory

_SHORT = 1.0  # limits the advice to run it, in seconds
_MOSTLY = 0.6  # limits naming a phase: its share of the runtime


@dataclass(frozen=True)
class Verdict:
    """What the user wants to know first.

    Parameters
    ----------
    sentence : str
    fits : bool, optional
        Whether the run fits in memory; None where that is not known.
    peak_memory_bytes : Interval, optional
    available_bytes : float, optional
        Memory that there is for it.
    """

    sentence: str
    fits: bool | None = None
    peak_memory_bytes: Interval | None = None
    available_bytes: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        peak = self.peak_memory_bytes
        return {
            "sentence": self.sentence,
            "fits": self.fits,
            "peak_memory_bytes": None if peak is None else peak.to_dict(),
            "available_bytes": self.available_bytes,
        }


def verdict_of(
    runtime: Interval,
    phases: Mapping[str, float],
    *,
    estimated: bool = False,
    local: bool = True,
    load: Load | None = None,
    memory: PeakMemory | None = None,
    executors: Mapping[str, Any] | None = None,
) -> Verdict:
    """Return the verdict on a run.

    Parameters
    ----------
    runtime : Interval
    phases : mapping of str to float
    estimated : bool
        Whether nothing was measured.
    local : bool
        Whether it is a run on this machine, which one may just start.
    load : Load, optional
        Of this machine.
    memory : PeakMemory, optional
        Of a run on this machine.
    executors : mapping, optional
        On a cluster: bytes that an executor needs for execution and storage, and has available.

    Examples
    --------
    >>> phases = {"setup": 1.0, "read": 30.0, "superstep": 9.0, "write": 0.0}
    >>> peak = PeakMemory(2_100_000_000, 1_800_000_000, 2_500_000_000, 24_000_000_000)
    >>> verdict_of(Interval(40.0, 34.0, 47.0), phases, memory=peak).sentence
    'about 40 s (90% sure: 34 s to 47 s), mostly reading; fits in 2.1 of 24 GB'
    >>> verdict_of(Interval(0.2, 0.1, 0.4), phases, estimated=True).sentence
    'about 200 ms (90% sure: 100 ms to 400 ms), mostly reading: just run it'
    """
    most = max(phases, key=lambda name: phases[name])
    total = sum(phases.values())
    mostly = f", mostly {PHASE_NAMES[most]}" if total and phases[most] > _MOSTLY * total else ""
    room, fits, peak = _room(memory, executors)
    text = f"about {readable_seconds(runtime.predicted)} ({sure(runtime.low, runtime.high)})"
    text += " on a machine as busy as now" if load and load.noted else ""
    text += mostly + room
    if local and runtime.high < _SHORT and fits is not False:
        text += ": just run it"
    elif estimated:
        text += "; a baseline estimate, as the budget is too small for samples"
    available = None if memory is None else float(memory.available)
    return Verdict(text, fits, peak, available)


def _room(
    memory: PeakMemory | None, executors: Mapping[str, Any] | None
) -> tuple[str, bool | None, Interval | None]:
    """Return whether it fits, in words and as such, and what it needs."""
    if memory is not None:
        peak = Interval(memory.predicted, memory.low, memory.high)
        return f"; {memory.sentence}", memory.fits, peak
    if executors:
        needed = float(executors["execution_bytes"] + executors["storage_bytes"])
        has = float(executors["available_bytes"])
        sizes = f"{needed / 1e9:.2g} of {has / 1e9:.2g} GB"
        if needed <= has:
            return f"; an executor needs {sizes}", True, None
        return f"; an executor would need {sizes}: it will spill or fail", False, None
    return "", None, None
