"""The answers of a prediction and of a comparison: the sentence, and what decides it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from predict_graph import answers
from predict_graph.cores import NOTED
from predict_graph.durations import counted, readable_seconds
from predict_graph.engines.profile import PHASE_NAMES, engine_said, includes, phases_said
from predict_graph.intervals import Interval

if TYPE_CHECKING:
    from predict_graph.engines import SampleSummary
    from predict_graph.outcome.comparison import Comparison
    from predict_graph.outcome.prediction import Prediction, SourceEstimate

_UNITS = {"seconds": readable_seconds, "bytes": answers.readable_bytes}


def answer_of(found: Prediction) -> answers.Answer:
    """Return the answer of a prediction."""
    return answers.Answer(
        found.verdict.sentence,
        [*_facts(found)],
        warnings=found.warnings,
        details=[(name, said) for name, said in _details(found) if said],
        more=[_evidence(found), *_samples(found)],
        badge=found.verdict.badge,
    )


def answer_of_comparison(found: Comparison) -> answers.Answer:
    """Return the answer of a comparison: how far the prediction was off."""
    own, runtime = found.prediction.answer, found.prediction.runtime_seconds
    error, actual = found.errors()["runtime_seconds"], found.actual
    far = ""
    if error is not None and abs(error) >= 0.005:
        far = f", {abs(error):.0%} too {'high' if error > 0 else 'low'}"
    expected, steps = found.prediction.iterations, ""
    if expected is not None:
        steps = f"; {counted(actual.iterations, 'iterations')}, predicted {expected.predicted:.0f}"
    inside = found.inside()["runtime_seconds"]
    sentence = (
        f"took {readable_seconds(actual.runtime_seconds)}, predicted {answers.sure(runtime)}: "
        f"{'inside' if inside else 'outside'} the interval{far}{steps}"
    )
    repeated = ("iterations", "phases", "peak memory", "prediction overhead")
    facts = [fact for fact in own.facts if fact[0] not in repeated]
    if (slower := actual.slowdown) >= NOTED:
        facts.append(("other programs", f"made the run {slower:.2g} times as long"))
    counters = [_counters(found)] if found.prediction.features_total() else []
    return answers.Answer(
        sentence,
        [*facts, *_overhead(found.prediction)],
        [_truth(found)],
        own.warnings,
        [("predicted phases", phases_said(found.prediction.phases)), *own.details],
        [*counters, *own.more],
        ("inside the interval", "good") if inside else ("outside the interval", "caution"),
    )


def _facts(found: Prediction) -> Iterator[tuple[str, str]]:
    """Yield what decides the answer, without what is not known."""
    yield "job", f"{found.title}: {answers.graph_text(found.graph)}"
    if found.engine["name"] not in ("local", "python"):  # of this machine, which is not mentioned
        yield "engine", engine_said(found.engine)
    if found.iterations is not None:
        yield "iterations", _counted(found.iterations)
    yield "phases", phases_said(found.phases)
    if (first := found.prior) is not None:
        yield includes(first.algorithm["name"], float(first.iterations or 0), first.phases)
    if found.by_machines:
        yield from _by_machines(found)
    if (memory := found.verdict.memory) is not None:
        call = found.iterations is None
        what = "on top of Python and its libraries" if call else "of the whole process"
        peak = answers.interval_text(memory.peak, answers.readable_bytes)
        free = answers.readable_bytes(memory.available)
        yield "peak memory", f"{peak} {what}, {free} are free"
    yield "estimated from", _estimated_from(found)
    yield from (("alternative", text) for text in found.advice)
    yield from _overhead(found)


def _by_machines(found: Prediction, most: int = 6) -> Iterator[tuple[str, str]]:
    """Yield what other machine counts would take, those nearest to its own."""
    own = float(found.engine.get("machines") or 1)
    others = [row for row in found.by_machines if row["machines"] != own]
    others.sort(key=lambda row: abs(math.log(row["machines"] / own)))
    near = sorted((row["machines"], row["predicted"]) for row in others[:most])
    yield "by machines", ", ".join(f"{n}: {readable_seconds(seconds)}" for n, seconds in near)
    best = min(found.by_machines, key=lambda row: float(row["predicted"]))
    if best["predicted"] < found.runtime_seconds.predicted:
        time = readable_seconds(best["predicted"])
        yield "alternative", f"{counted(best['machines'], 'machines')} may be faster: about {time}"


def _counted(iterations: Interval) -> str:
    low, high = (f"{end:.0f}" for end in iterations)
    return low if low == high else f"{iterations.predicted:.0f} (90% sure: {low} to {high})"


# What sources of a call are called where they stand alone.
_CALLED = {
    "run": "the run itself",
    "prefix": "the first part of the run",
    "full local run": "all iterations, which were run here",
    "probe": "its first supersteps, which were run here",
    "sample run and probe": "a sample run and the first supersteps",
    "baseline estimate": "usual figures of the algorithm (a baseline estimate)",
    "atlas": "runs on other graphs that are known to this version",
}


def called(source: SourceEstimate) -> str:
    """Return what users call a source."""
    return _CALLED.get(source.source, source.source)


def _estimated_from(found: Prediction) -> str:
    """Say where the seconds of the iterations came from, and with what weight."""
    sources = []
    for each in found.evidence:
        if (percent := f"{each.weight:.0%}") == "0%":
            continue
        share = f" ({percent} of the estimate)" if percent != "100%" else ""
        by = f" by {each.model['name']}" if each.source == "regression" else ""
        sources.append(f"{called(each)}{by}{share}")
    return ", ".join(sources)


def _overhead(found: Prediction) -> Iterator[tuple[str, str]]:
    """Yield what the prediction cost, and what more would buy."""
    if found.overhead_seconds:
        more = f"; {found.more}" if found.more else ""
        loading, reading = found.loading_seconds, found.reading_seconds
        loaded = f", and {readable_seconds(loading)} to load compiled code" if loading else ""
        cpu = " of CPU time" if found.iterations is None else ""  # what it waits is not counted
        read = f", {readable_seconds(reading)} of it to read" if reading else " without reading"
        took = f"{readable_seconds(found.overhead_seconds)}{cpu}{read}"
        yield "prediction overhead", f"{took}{loaded}{more}"


def _details(found: Prediction) -> Iterator[tuple[str, str]]:
    """Yield what the answer rests on; texts are empty where there is nothing to say."""
    yield "parameters", ", ".join(f"{k}={v}" for k, v in found.algorithm["parameters"].items())
    yield "engine", engine_said(found.engine)
    method = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in found.method.items()
        if name != "name" and not isinstance(value, Mapping)
    )
    yield "method", f"{found.method['name']} ({method})" if found.method else ""
    yield "budget", found.budget
    yield "seed", "" if found.seed is None else str(found.seed)
    yield "graph's fingerprint", str(found.graph.get("fingerprint", ""))
    if found.processor_seconds is not None:
        yield "CPU time of the call", readable_seconds(found.processor_seconds)
    if found.executors:
        parts = ("execution", "storage", "available")
        sizes = [f"{name} {found.executors[f'{name}_bytes'] / 2**20:.0f} MiB" for name in parts]
        yield "an executor's memory", ", ".join(sizes)
    yield from ((called(each), each.detail) for each in found.evidence)
    for model in (each.model for each in found.evidence if each.model):
        terms = ", ".join(f"{name} {value:.3g} s" for name, value in model["terms"].items())
        fit = "" if model["r2"] is None else f", R² {model['r2']:.2f}"
        yield (
            "cost model",
            f"{model['name']}, of {model['rows']} rows of {model['runs']} runs "
            f"({model['history_runs']} of the history){fit}: {terms}",
        )


def _evidence(found: Prediction) -> answers.Table:
    rows = []
    for each in found.evidence:
        ends = answers.between(Interval.spread(each.seconds, each.log_std))
        seconds, share = readable_seconds(each.seconds), f"{each.weight:.0%}"
        rows.append((called(each), seconds, ends, share))
    # A call waits for other programs, and may use several cores.
    what = "CPU seconds of the call" if found.iterations is None else "seconds of the iterations"
    columns = ["evidence", what, "90% interval", "weight"]
    return answers.Table(f"where the {what} come from", columns, rows)


def _samples(found: Prediction) -> list[answers.Table]:
    """One row a sample; samples of the same kind and size share one."""
    if not found.samples:
        return []
    groups: dict[tuple[Any, ...], list[SampleSummary]] = {}
    for sample in found.samples:
        key = (sample.sampler, sample.purpose, sample.vertices, sample.edges, sample.state)
        groups.setdefault(key, []).append(sample)
    rows = []
    for (sampler, purpose, vertices, edges, state), members in groups.items():
        counts = sorted({sample.iterations for sample in members})
        spread = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        seconds = readable_seconds(sum(sample.seconds for sample in members))
        took = seconds if state == "done" else f"{seconds}, {state}"
        share = f"{members[0].ratio:.2%}"
        rows.append((sampler, purpose, len(members), vertices, share, edges, spread, took))
    columns = ["samples by", "for", "runs", "vertices", "share", "edges", "iterations", "took"]
    return [answers.Table("samples that were run", columns, rows)]


def _truth(found: Comparison) -> answers.Table:
    """One row for iterations, runtime, each phase that took any time, and memory."""
    errors, inside, rows = found.errors(), found.inside(), []
    for name, (interval, actual) in found.compared().items():
        if not max(interval.predicted, actual):
            continue
        quantity, _, unit = name.rpartition("_")
        shown = _UNITS.get(unit, "{:.0f}".format)
        ends = answers.between(interval, shown) if interval.low < interval.high else ""
        rows.append(
            (
                PHASE_NAMES.get(quantity, (quantity or name).replace("_", " ")),
                shown(interval.predicted),
                f"{ends}{'' if inside.get(name, True) else ' (missed)'}",
                shown(actual),
                _percent(errors[name]),
            )
        )
    return answers.Table(
        "prediction and truth", ["", "predicted", "90% interval", "actual", "error"], rows
    )


def _counters(found: Comparison) -> answers.Table:
    totals, truth = found.prediction.features_total(), found.actual.features_total()
    errors = found.errors()["features_total"]
    rows = [
        (name.replace("_", " "), totals[name], truth[name], _percent(errors[name]))
        for name in totals
    ]
    return answers.Table("counters", ["of all iterations", "predicted", "actual", "error"], rows)


def _percent(error: float | None) -> str:
    return "" if error is None else f"{error:+.1%}"
