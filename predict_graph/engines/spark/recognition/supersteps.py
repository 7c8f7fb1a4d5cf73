"""Which parts of a job are its supersteps, and with what confidence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

import numpy as np
import pandas as pd

from predict_graph.durations import counted
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.recognition.units import Span, Unit, job_units, stage_units, united
from predict_graph.errors import RequestError

COMBINED = "GraphImpl.aggregateMessages - preAgg"
"""GraphX's name of the dataset in which messages are made and combined."""

_OUR_RUN = re.compile(r"(.+)-(?!\d{8}$)[0-9a-f]{8}$")  # of names of runs; a date is the user's


@dataclass(frozen=True)
class Recognised:
    """The supersteps of a job, as recognised in its log."""

    supersteps: tuple[Span, ...]
    by: str
    name: str
    certainty: str
    reason: str
    limit: int | None = None

    @property
    def seconds(self) -> float:
        """The time that the supersteps took."""
        return float(sum(step.seconds for step in self.supersteps))

    @property
    def iterations(self) -> int:
        """The number of supersteps."""
        return len(self.supersteps)

    @property
    def algorithm(self) -> str:
        """What the run is called, without what makes names of our own runs unique; else nothing."""
        return _OUR_RUN.sub(r"\1", self.name) if self.by == "names" else ""

    @property
    def started(self) -> float:
        """The start of the first superstep."""
        return self.supersteps[0].started

    @property
    def finished(self) -> float:
        """The end of the last superstep."""
        return self.supersteps[-1].finished


def recognise(log: EventLog, *, run: str | None = None) -> Recognised:
    """Find the supersteps of a job in its event log.

    Job groups or descriptions that count up name the supersteps. Otherwise a loop in the program is
    a repetition in the log: the same calls with the same operators. These may be whole jobs (at
    least one action per iteration), or stages within one job (no action before the end). The
    repetition that covers most of the time is used. Stages of a query are excluded: they have the
    call site of the action.

    Notes
    -----
    PREDIcT needs features per iteration (section 3.3), from the logs of a framework
    that has supersteps; Spark has none.
    """
    named = named_runs(log)
    if run is not None and run not in {found.name for found in named}:
        known = ", ".join(dict.fromkeys(found.name for found in named)) or "none is named"
        raise RequestError(f"the event log has no run {run!r}; accepted: {known}")
    if named:
        chosen = [found for found in named if run is None or found.name == run]
        return max(chosen, key=lambda found: found.finished - found.started)
    jobs = log.jobs.dropna(subset=["finished"])
    units = _joined(job_units(replace(log, jobs=jobs)))
    of_jobs = _loop(units, "jobs")
    whole = sum(unit.seconds for unit in units)
    if of_jobs is not None and of_jobs.seconds >= 0.5 * whole:
        return of_jobs
    longest = max(units, key=lambda unit: unit.seconds, default=None)
    of_stages = None if longest is None else _loop_inside(stage_units(log, longest))
    found = [loop for loop in (of_jobs, of_stages) if loop is not None]
    if not found:
        raise RequestError(
            f"no supersteps found: nothing repeats in its {counted(len(units), 'pieces')} of work, "
            f"whose jobs took {united(jobs):.1f} s; run more iterations, or put each in a job "
            "group whose name ends in its number"
        )
    return max(found, key=lambda loop: loop.seconds)


def message_stages(log: EventLog) -> pd.DataFrame:
    """Return the stages in which GraphX makes and combines messages, in order."""
    made = log.stages[[COMBINED in datasets for datasets in log.stages["datasets"]]]
    return made[made["attempt"] == 0].sort_values("stage")


def steps_of_jobs(
    log: EventLog, jobs: pd.DataFrame, ends: Sequence[int], began: float
) -> tuple[Span, ...]:
    """Return the supersteps of some jobs by the last job of each; the first starts at `began`."""
    parts: list[Span] = []
    for since, end in pairwise([-1, *ends]):
        own = jobs[(jobs["job"] > since) & (jobs["job"] <= end)]
        stages = dict.fromkeys(log.stages.loc[log.stages["job"].isin(own["job"]), "stage"])
        parts.append(Span(began, float(own["finished"].max()), tuple(own["job"]), tuple(stages)))
    return _successive(parts, began)


def _successive(parts: Sequence[Span], began: float) -> tuple[Span, ...]:
    """Return supersteps that each start as the one before it ends, the first at `began`."""
    steps: list[Span] = []
    for part in parts:
        steps.append(replace(part, started=began, finished=max(part.finished, began)))
        began = steps[-1].finished
    return tuple(steps)


def by_messages(log: EventLog, name: str, began: float | None = None) -> Recognised | None:
    """Return the supersteps of a GraphX algorithm by their messages; None if there are none.

    There is one more than rounds of its loop, since the first messages are made before it. A
    superstep extends until the next messages; the last one, over jobs of the same call site. The
    first one starts at `began`, or else with the job that makes the first messages.
    """
    jobs = log.jobs[log.jobs["group"] == name]
    jobs = (jobs if len(jobs) else log.jobs).sort_values("job")
    made = message_stages(log)
    made = made[made["job"].isin(jobs["job"])]
    if made.empty:
        return None
    first, *others = dict.fromkeys(made["job"])
    if began is None:
        jobs = jobs[jobs["job"] >= first]
        began = float(jobs["started"].iloc[0])
    names = log.stages.drop_duplicates("job", keep="last").set_index("job")["name"]
    alike = jobs["job"].map(names) == names[[first, *others][-1]]
    ends = [*(start - 1 for start in others), jobs["job"][alike].max()]
    steps = steps_of_jobs(log, jobs, ends, began)
    return Recognised(steps, "names", name, "certain", "each makes messages of GraphX")


def by_sums(log: EventLog, name: str, began: float) -> Recognised | None:
    """Return the supersteps that each end with a sum, which exchanges records without a query."""
    jobs = log.jobs[log.jobs["group"] == name].sort_values("job")
    exchanging = log.stages.loc[[bool(each) for each in log.stages["parents"]], "job"]
    ends = jobs.loc[(jobs["execution"] < 0) & jobs["job"].isin(exchanging), "job"]
    steps = steps_of_jobs(log, jobs, ends.tolist(), began)
    return Recognised(steps, "names", name, "certain", "each ends with a sum") if steps else None


def recognised_so_far(
    log: EventLog, library: str | None = None, run: str | None = None, *, ended: bool = False
) -> Recognised | None:
    """Return the completed supersteps of a run in the log of a running job; None if unknown.

    It is the run of that name, of the algorithm of a library, or the newest. A superstep may be
    incomplete until it has as many jobs as most before it, unless the application has `ended`.

    Raises
    ------
    RequestError
        If the application has ended without that run.
    """
    jobs = log.jobs[log.jobs["finished"].notna()]
    over = replace(log, jobs=jobs, stages=log.stages[log.stages["job"].isin(jobs["job"])])
    found = None if library is None or run is not None else by_messages(over, library)
    try:
        if found is None:
            named = named_runs(over) if run is None else []
            newest = max(named, key=lambda each: (each.finished, each.limit or 0), default=None)
            found = newest or recognise(over, run=run)
    except RequestError:
        if ended and run is not None:
            raise
        return None
    if ended or found.by == "stages":  # from a job that has ended
        return found
    *before, last = found.supersteps
    usual = Counter(len(step.jobs) for step in before).most_common(1)
    if usual and len(last.jobs) >= usual[0][0]:
        return found
    return replace(found, supersteps=tuple(before)) if before else None


def named_runs(log: EventLog) -> list[Recognised]:
    """Return the runs whose supersteps are named by numbered job groups or descriptions.

    A name that begins to count again is of another run.
    """
    series: dict[tuple[str, str], list[dict[int, list[int]]]] = {}
    for job, *labels in log.jobs[["job", "group", "description"]].itertuples(index=False):
        # One that counts up is enough: notebooks set a job group, and libraries descriptions.
        for before, number, after in dict.fromkeys(chain(*map(_counted, labels))):
            runs = series.setdefault((before, after), [{}])
            if number < 2 and number < max(runs[-1], default=0):
                runs.append({})
            runs[-1].setdefault(number, []).append(job)
    of_job = {job: unit for unit in job_units(log) for job in unit.jobs} if series else {}
    found = []
    for (before, after), numbered in ((key, run) for key, runs in series.items() for run in runs):
        order = list(numbered)
        first = order[0]
        if len(order) < 2 or first > 1 or order != list(range(first, first + len(order))):
            continue
        groups = [[of_job[job] for job in numbered[number]] for number in order if number > 0]
        sites = Counter(chain.from_iterable({unit.site for unit in group} for group in groups))
        if 2 * max(sites.values()) <= len(groups):  # as many pieces of code, which are no loop
            continue
        # Setup ends where the first superstep starts, which includes its planning.
        parts = [Span.over(list(dict.fromkeys(group))) for group in groups]
        setup = [of_job[job].finished for job in numbered.get(0, ())]
        began = min(parts[0].started, max(setup, default=math.inf))
        steps = _successive(parts, began)
        text = _COUNTED_WORD.sub("", before) or _LIMIT.sub("", after).strip(" ,;:)]}")
        name = " ".join((text or before).split())
        reason = f"job groups or descriptions count {len(steps)} supersteps"
        most = _LIMIT.match(after)
        limit = int(most.group(1)) if most and int(most.group(1)) >= order[-1] else None
        found.append(Recognised(steps, "names", name, "certain", reason, limit))
    return found


def _counted(label: object, most: int = 16) -> Iterator[tuple[str, int, str]]:
    """Split a name at each of its first numbers; comparing names shows which one counts up.

    Livy numbers the cells of a notebook: what is nothing but a number names no superstep.
    """
    if isinstance(label, str) and not label.strip().isdigit():
        for number in islice(_NUMBER.finditer(label), most):
            yield label[: number.start()], int(number.group()), label[number.end() :]


_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,6}(?![0-9])")
_LIMIT = re.compile(r"\s*(?:/|of|out of)\s*([0-9]{1,6})(?![0-9])")
_COUNTED_WORD = re.compile(r"\W*(?:superstep|iteration|round|step|epoch)?\W*$", re.IGNORECASE)


def _joined(units: list[Unit]) -> list[Unit]:
    """Merge each unit that only re-reads the result of the previous one.

    A check for remaining work often runs on one partition first and then on more: several jobs at
    one call site, only one of them with work.
    """
    joined: list[Unit] = []
    for unit in units:
        again = unit.wrote == 0 and unit.skipped > 0
        if again and joined and joined[-1].site == unit.site and joined[-1].wrote > 0:
            joined[-1] = replace(joined[-1], **vars(Span.over([joined[-1], unit])))
        else:
            joined.append(unit)
    return joined


def _loop_inside(stages: Sequence[Unit]) -> Recognised | None:
    """Return the loop among the stages of a job; None if there is none.

    Stages of a program's datasets have the call sites that created them; stages with the call site
    of the last one, the action, belong to one query.
    """
    found = _loop(stages, "stages")
    action = stages[-1].site if stages else ""
    sites = {unit.site for unit in stages if found and unit.stages[0] in found.supersteps[0].stages}
    return None if action in sites else found


def _loop(units: Sequence[Unit], by: str) -> Recognised | None:
    """Return the loop that covers most time; None if nothing repeats."""
    weights = [unit.seconds for unit in units]
    strict: list[Hashable] = [(unit.site, unit.shape) for unit in units]
    loose: list[Hashable] = [
        unit.site if unit.located else (unit.site, unit.shape) for unit in units
    ]
    found: list[tuple[float, Repetition, list[Hashable]]] = []
    for symbols in (strict, loose):
        repetition = longest_repetition(symbols, weights)
        if repetition is not None:
            repetition = _widened(units, repetition)
            held = sum(weights[repetition.start : repetition.stop])
            found.append((held, repetition, symbols))
    if not found:
        return None
    # Prefer the stricter of two criteria that cover about as much.
    most = max(held for held, _, _ in found)
    # Trades off coverage for strictness; not tuned
    _, repetition, symbols = next(entry for entry in found if entry[0] >= 0.9 * most)
    starts = loop_starts(symbols, repetition)
    groups = [units[start:stop] for start, stop in pairwise([*starts, repetition.stop])]
    certainty, reason = _judged(groups, units, by)
    parts = [Span.over(group) for group in groups]
    steps = _successive(parts, parts[0].started)
    return Recognised(steps, by, groups[-1][0].site, certainty, reason)


def _widened(units: Sequence[Unit], found: Repetition) -> Repetition:
    """Extend a repetition by similar units before and after: first and last iterations differ."""
    start, stop, period = found.start, found.stop, found.period
    while start > 0 and _alike(units[start - 1], units[start - 1 + period]):
        start -= 1
    while stop < len(units) and _alike(units[stop], units[stop - period]):
        stop += 1
    return Repetition(start, stop, period)


def _alike(one: Unit, other: Unit) -> bool:
    if one.site != other.site:
        return False
    different = one.shape ^ other.shape
    return one.located or len(one.shape & other.shape) >= max(len(different), 1)


def _judged(groups: list[Sequence[Unit]], units: Sequence[Unit], by: str) -> tuple[str, str]:
    """Return how certain it is that the blocks are iterations, and the reason."""
    what = "the same work" if by == "jobs" else "the same stages of one job"
    held = sum(unit.seconds for group in groups for unit in group)
    share = held / max(sum(unit.seconds for unit in units), 1e-9)
    text = f"{what} comes {len(groups)} times and takes {share:.0%} of the time of all {by}"
    located = all(unit.located for group in groups for unit in group)
    if len(groups) < 3:
        return "doubtful", f"{text}; two might be chance"
    if share < 0.25:  # a loop of less than a quarter of the time; not tuned
        return "doubtful", f"{text}, which is little"
    if not located or by == "stages":
        return "likely", text if located else f"{text}; the log does not say from which line"
    places = sorted({unit.site for unit in groups[0]})
    return "certain", f"{text}, from {', '.join(places)}"


@dataclass(frozen=True)
class Repetition:
    """A part of a sequence that repeats one block; the last repeat may be truncated."""

    start: int
    stop: int
    period: int


# Limits the quadratic search: items of a block. The share of the weight of another block that a
# shorter one has if it is about as good; not tuned.
_LONGEST, _AS_GOOD = 64, 0.98


def longest_repetition(symbols: Sequence[Hashable], weights: Sequence[float]) -> Repetition | None:
    """Return the repetition with the most weight; among about equal ones, the shortest block.

    Examples
    --------
    >>> longest_repetition("xabababay", [1] * 9)
    Repetition(start=1, stop=8, period=2)
    >>> longest_repetition("abcdef", [1] * 6) is None
    True
    """
    codes, _ = pd.factorize(pd.Series(list(symbols), dtype=object))
    heavy = np.concatenate([[0.0], np.cumsum(np.maximum(weights, 1e-9))])
    best: Repetition | None = None
    best_weight = 0.0
    for period in range(1, min(_LONGEST, len(codes) // 2) + 1):
        same = np.concatenate([[False], codes[:-period] == codes[period:], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            stop = int(end) + period
            if stop - start < 2 * period:
                continue
            weight = float(heavy[stop] - heavy[start])
            if best is None or weight * _AS_GOOD > best_weight:
                best, best_weight = Repetition(int(start), stop, period), weight
    return best


def loop_starts(symbols: Sequence[Hashable], found: Repetition) -> list[int]:
    """Return where the iterations of a loop start.

    A block may hold several iterations: a loop that checkpoints every third time is a block of
    three. The most frequent item of a block occurs once per iteration.

    Examples
    --------
    >>> loop_starts("aacaacaac", Repetition(0, 9, 3))
    [0, 1, 3, 4, 6, 7]
    >>> loop_starts("ababa", Repetition(0, 5, 2))
    [0, 2, 4]
    """
    block = symbols[found.start : found.start + found.period]
    anchor, _ = Counter(block).most_common(1)[0]
    places = [place for place, symbol in enumerate(block) if symbol == anchor]
    blocks = range(found.start, found.stop, found.period)
    starts = (at + begin for at in blocks for begin in [0, *places[1:]])
    return [start for start in starts if start < found.stop]
