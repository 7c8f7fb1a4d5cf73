"""The answer in one sentence: how long, mostly what, and whether it fits in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from predict_graph.answers import between, readable_bytes, sure
from predict_graph.cores import Load
from predict_graph.engines.profile import PHASE_NAMES
from predict_graph.intervals import Interval

_WHOLE = "call"  # a phase that is not worth naming


@dataclass(frozen=True)
class PeakMemory:
    """The most memory that a run will hold, in bytes, beside what there is.

    Parameters
    ----------
    peak : Interval
        Resident memory at its peak.
    available : float
        What a new process may take.
    keeps_items : bool
        False for a function whose result is an iterator, and its items are not kept.

    Examples
    --------
    >>> peak = PeakMemory(Interval(2e9, 1.8e9, 2.5e9), 24e9)
    >>> peak.fits, peak.sentence
    (True, 'fits in memory: up to 2.33 GiB, and 22.4 GiB are free')
    """

    peak: Interval
    available: float
    keeps_items: bool = True

    @property
    def fits(self) -> bool | None:
        """Whether it fits; None if it may or may not."""
        if self.peak.high <= self.available:
            return True
        return None if self.peak.low <= self.available else False

    @property
    def sentence(self) -> str:
        """Whether it fits, in words."""
        items = "" if self.keeps_items else ", keeping none of its items"
        free = f"and {readable_bytes(self.available)} are free{items}"
        if self.fits is False:
            return f"does not fit in memory: {between(self.peak, readable_bytes)}, {free}"
        verdict = "fits in memory:" if self.fits else "may not fit in memory:"
        if self.peak.predicted > self.available:
            about = readable_bytes(self.peak.predicted)
            verdict = f"probably does not fit in memory: about {about},"
        return f"{verdict} up to {readable_bytes(self.peak.high)}, {free}"


@dataclass(frozen=True)
class Verdict:
    """What the user wants to know first.

    Parameters
    ----------
    sentence : str
    fits : bool, optional
        Whether the run fits in memory; None where that is not known.
    memory : PeakMemory, optional
        Of a run on this machine.
    outgrown : str
        Why the run may not finish; empty without a reason.
    brief : bool
        Whether one may just run it.
    """

    sentence: str
    fits: bool | None = None
    memory: PeakMemory | None = None
    outgrown: str = ""
    brief: bool = False

    @property
    def badge(self) -> tuple[str, str] | None:
        """The verdict in a word or two, and whether it is good; None if all of it is unknown."""
        if self.outgrown:
            return "may not finish", "bad"
        if self.fits is False:
            return "does not fit in memory", "bad"
        if self.brief:
            return "just run it", "good"
        if self.fits:
            return "fits in memory", "good"
        return None if self.memory is None else ("may not fit in memory", "caution")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        memory = self.memory
        return {
            "sentence": self.sentence,
            "fits": self.fits,
            "may_not_finish": bool(self.outgrown),
            "peak_memory_bytes": None if memory is None else memory.peak.to_dict(),
            "available_bytes": None if memory is None else memory.available,
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
    outgrown: str = "",
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
    outgrown : str
        Why the run may not finish.

    Examples
    --------
    >>> phases = {"setup": 1.0, "read": 30.0, "superstep": 9.0, "write": 0.0}
    >>> peak = PeakMemory(Interval(2.1e9, 1.8e9, 2.5e9), 24e9)
    >>> verdict_of(Interval(40.0, 34.0, 47.0), phases, memory=peak).sentence[:52]
    'about 40 s (90% sure: 34 s to 47 s), mostly reading;'
    >>> verdict_of(Interval(0.2, 0.1, 0.4), phases, estimated=True).sentence
    'about 200 ms (90% sure: 100 ms to 400 ms), mostly reading: just run it'
    """
    most = max(phases, key=lambda name: phases[name])
    total = sum(phases.values())
    named = total and most != _WHOLE and phases[most] > 0.6 * total
    room, fits = _room(memory, executors)
    text = f"about {sure(runtime)}"
    text += f", mostly {PHASE_NAMES[most]}" if named else ""
    text += ", on a machine as busy as now" if load and load.noted else ""
    if fits is False:
        text = f"{room}; with enough memory, {text}"
    elif room:
        text += f"; {room}"
    brief = local and runtime.high < 1.0 and fits is not False  # second
    if outgrown:
        text = f"may not finish: {outgrown}; if it ends, {text}"
    elif brief:
        text += ": just run it"
    elif estimated:
        text += "; a baseline estimate, as the budget is too small for samples"
    return Verdict(text, fits, memory, outgrown, brief)


def _room(
    memory: PeakMemory | None, executors: Mapping[str, Any] | None
) -> tuple[str, bool | None]:
    """Return whether it fits, in words and as such."""
    if memory is not None:
        return memory.sentence, memory.fits
    if executors:
        needed = float(executors["execution_bytes"] + executors["storage_bytes"])
        has = float(executors["available_bytes"])
        both = readable_bytes(needed), readable_bytes(has)
        sizes = "an executor needs {} of Spark's memory, and has {}".format(*both)
        if needed <= has:
            return f"fits in memory: {sizes}", True
        return f"does not fit in memory: {sizes}; take more machines or memory", False
    return "", None
