"""The prediction of a function call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer, Table, graph_text, sure
from predict_graph.cores import Load
from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SourceEstimate:
    """One source of evidence, and its estimate.

    Parameters
    ----------
    source : {'history', 'samples', 'prefix', 'run'}
    predicted : float
        CPU seconds of the call.
    log_std : float
    weight : float
        Of the source in the prediction; all add up to 1.
    spent : float
        CPU seconds that it cost.
    detail : str
    """

    source: str
    predicted: float
    log_std: float
    weight: float
    spent: float
    detail: str


@dataclass(frozen=True)
class SampleRow:
    """A run on a sample: CPU seconds, and how it ended (``ChildRun.state``)."""

    sampler: str
    vertices: int
    edges: int
    seconds: float
    peak_bytes: float
    state: str


@dataclass(frozen=True, eq=False, repr=False)
class FunctionPrediction(Result):
    """Predicted time and memory of a function call, with intervals.

    Parameters
    ----------
    function, graph : mapping
    seed : int
    runtime_seconds : Interval
        By the clock, on a machine as busy as now: conversion and call.
    call_seconds, convert_seconds : Interval
        Of the call, and of building the library's graph (0 if the user gave one).
    processor_seconds : float
        Of the call, over all threads.
    peak_bytes : Interval or None
        Growth of the resident memory, with the library's graph if it was converted;
        None where no run ended.
    available_bytes : float
        Memory that there is for it.
    evidence : list of SourceEstimate
    samples : list of SampleRow
    overhead_seconds : float
        CPU seconds of the prediction; reading the graph excluded.
    budget : str
    warnings : list of str
    advice : list of str
        Shorter alternatives.
    load : Load
        Slowdown by other work, assumed to last during the run.
    iterator : bool
        Whether the function returns an iterator, whose items are not kept.
    outgrown : str
        Why the run may not finish; empty without a reason.
    """

    function: Mapping[str, Any]
    graph: Mapping[str, Any]
    seed: int
    runtime_seconds: Interval
    call_seconds: Interval
    convert_seconds: Interval
    processor_seconds: float
    peak_bytes: Interval | None
    available_bytes: float
    evidence: list[SourceEstimate]
    samples: list[SampleRow]
    overhead_seconds: float
    budget: str
    warnings: list[str]
    advice: list[str] = field(default_factory=list)
    load: Load = field(default_factory=Load)
    iterator: bool = False
    outgrown: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether the memory suffices; None where that is not sure."""
        if self.peak_bytes is None:
            return None
        if self.peak_bytes.high <= self.available_bytes:
            return True
        return False if self.peak_bytes.low > self.available_bytes else None

    @property
    def verdict(self) -> str:
        """The prediction in a sentence."""
        runtime = self.runtime_seconds
        took = f"{readable_seconds(runtime.predicted)} ({sure(runtime.low, runtime.high)})"
        took += " on a machine as busy as now" if self.load.noted else ""
        said = f"{self.function['name']} on {self.graph['name']} will take {took}"
        if self.outgrown:
            said = (
                f"{self.function['name']} on {self.graph['name']} may not finish: {self.outgrown}; "
                f"if it does, it takes {took}"
            )
        if self.peak_bytes is None:
            return said
        there = readable_bytes(self.available_bytes)
        memory = f"up to {readable_bytes(self.peak_bytes.high)} of {there}"
        memory += ", keeping none of its items" if self.iterator else ""
        if self.fits:
            return f"{said} and fits into memory: {memory}"
        if self.fits is None:
            return f"{said}; it may not fit into memory: {memory}"
        least = readable_bytes(self.peak_bytes.low)
        return f"{said}, but does not fit into memory: at least {least}, {memory}"

    @property
    def answer(self) -> Answer:
        """The sentence, what decides it, and what it rests on."""
        facts = [("graph", f"{self.graph['name']}: {graph_text(self.graph)}")]
        if self.convert_seconds.predicted > 0.0:
            facts.append(
                ("includes conversion", interval_text(self.convert_seconds, readable_seconds))
            )
        if self.peak_bytes is not None:
            words = {True: "fits", False: "does not fit", None: "may not fit"}[self.fits]
            memory = f"{words}: {readable_bytes(self.available_bytes)} are free"
            facts.append(
                ("peak memory", f"{interval_text(self.peak_bytes, readable_bytes)}, {memory}")
            )
        facts += [
            (f"by {each.source}", f"{readable_seconds(each.predicted)}, weight {each.weight:.0%}")
            for each in self.evidence
        ]
        share = self.overhead_seconds / max(self.runtime_seconds.predicted, 1e-9)
        overhead = f"{readable_seconds(self.overhead_seconds)}, {share:.1%} of the run"
        facts += [("instead", text) for text in self.advice]
        facts.append(("prediction overhead", f"{overhead} (budget {self.budget})"))
        given = ", ".join(f"{name}={value!r}" for name, value in self.function["arguments"].items())
        columns = ["sampler", "vertices", "edges", "took", "peak memory", "ended"]
        rows = [
            (
                *(row.sampler, row.vertices, row.edges, readable_seconds(row.seconds)),
                *(readable_bytes(row.peak_bytes), row.state),
            )
            for row in self.samples
        ]
        return Answer(
            self.verdict,
            facts,
            warnings=self.warnings,
            details=[
                ("call", f"{self.function['name']}({given})"),
                ("processor", readable_seconds(self.processor_seconds)),
                *((each.source, each.detail) for each in self.evidence),
            ],
            more=[Table("samples that were run", columns, rows)] if rows else [],
        )

    @property
    def title(self) -> str:
        """What on what."""
        return f"{self.function['name']} on {self.graph['name']}"

    def to_frame(self) -> pd.DataFrame:
        """Return time and memory with their intervals, one row for each quantity."""
        import pandas as pd

        found = {
            "runtime_seconds": self.runtime_seconds,
            "convert_seconds": self.convert_seconds,
            "call_seconds": self.call_seconds,
            "peak_memory_bytes": self.peak_bytes,
        }
        rows = [{"quantity": k, **v.to_dict()} for k, v in found.items() if v is not None]
        return pd.DataFrame(rows)

    def pictures(self) -> list[Picture]:
        """Return the pictures of a report: time, memory, and each source."""
        from predict_graph.functions.picture import pictures_of

        return pictures_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction, ready for JSON."""
        runtime = self.runtime_seconds.predicted
        return {
            "schema": 1,
            "function": dict(self.function),
            "graph": dict(self.graph),
            "seed": self.seed,
            "runtime_seconds": self.runtime_seconds.to_dict(),
            "phases": {
                "convert": self.convert_seconds.predicted,
                "call": self.call_seconds.predicted,
            },
            "processor_seconds": self.processor_seconds,
            "verdict": {
                "sentence": self.verdict,
                "fits": self.fits,
                "may_not_finish": bool(self.outgrown),
                "peak_memory_bytes": (
                    None if self.peak_bytes is None else self.peak_bytes.to_dict()
                ),
                "available_bytes": self.available_bytes,
            },
            "evidence": [asdict(each) for each in self.evidence],
            "samples": [asdict(each) for each in self.samples],
            "overhead": {
                "seconds": self.overhead_seconds,
                "fraction_of_predicted": self.overhead_seconds / runtime if runtime else None,
                "budget": self.budget,
            },
            "load": self.load.to_dict(),
            "warnings": self.warnings,
            "advice": self.advice,
        }


def readable_bytes(value: float) -> str:
    """Return a size with its unit.

    Examples
    --------
    >>> readable_bytes(3 * 2**20), readable_bytes(2.5 * 2**30)
    ('3 MiB', '2.5 GiB')
    """
    size = float(value)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024.0:
            return f"{size:.3g} {unit}"
        size /= 1024.0
    return f"{size:.3g} TiB"


def interval_text(interval: Interval, readable: Callable[[float], str]) -> str:
    """Return an interval in words."""
    ends = f"{readable(interval.low)} to {readable(interval.high)}"
    return f"{readable(interval.predicted)} ({ends})"
