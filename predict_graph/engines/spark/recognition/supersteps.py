"""Which pieces of a job are its supersteps, and how sure that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.recognition.repetition import (
    Repetition,
    longest_repetition,
    loop_starts,
)
from predict_graph.engines.spark.recognition.units import Unit, job_units, stage_units
from predict_graph.errors import RequestError

__all__ = [
    "COMBINED",
    "Recognised",
    "Superstep",
    "finished_jobs",
    "named_runs",
    "recognise",
    "recognised_now",
    "recognised_so_far",
    "whole_supersteps",
]

COMBINED = "GraphImpl.aggregateMessages - preAgg"
"""What GraphX calls the dataset in which messages are made and combined."""

_ALIKE = 0.5  # judgement, not measured: of two jobs' operators, in one superstep and the next
_SURE = 3  # iterations; a choice: once may be chance, and twice
_LARGE = 4  # stages of a job that a loop is looked for inside; judgement, not measured
_FEW = 3  # such jobs, those that take most time; a choice: bounds the time


@dataclass(frozen=True)
class Superstep:
    """One iteration of a job.

    Parameters
    ----------
    started, finished : float
        Seconds since 1970.
    seconds : float
        From the end of the iteration before to its own.
    jobs, stages : tuple of int
    """

    started: float
    finished: float
    seconds: float
    jobs: tuple[int, ...]
    stages: tuple[int, ...]


@dataclass(frozen=True)
class Recognised:
    """The supersteps of a job, as its log shows them.

    Parameters
    ----------
    supersteps : tuple of Superstep
    by : {"names", "jobs", "stages"}
        What repeats: names of job groups that count up, jobs (or SQL executions), or the stages of
        one job.
    name : str
        Of the run, when job groups name it; else where in the program the repeated work is asked
        for.
    certainty : {"certain", "likely", "doubtful"}
    reason : str
        Why no more and no less, as a sentence.
    limit : int or None
        The most supersteps, where names such as ``iteration 7 / 20`` have it.
    """

    supersteps: tuple[Superstep, ...]
    by: str
    name: str
    certainty: str
    reason: str
    limit: int | None = None

    @property
    def iterations(self) -> int:
        """Number of supersteps."""
        return len(self.supersteps)

    @property
    def started(self) -> float:
        """Begin of the first."""
        return self.supersteps[0].started

    @property
    def finished(self) -> float:
        """End of the last."""
        return self.supersteps[-1].finished


def recognise(log: EventLog, *, run: str | None = None) -> Recognised:
    """Find the supersteps of a job in its event log.

    Where job groups or descriptions count up, they name the supersteps. Else a loop in the program
    is a repetition in the log: the same calls with the same operators, over and over. That may be
    whole jobs (one action or more an iteration), or stages within one job (no action before the
    end). The repetition that holds most of the time is taken. Stages of a query are none: they are
    all called as the action that asked for it.

    Parameters
    ----------
    log : EventLog
    run : str, optional
        Of the runs that job groups name, this one; the longest by default.

    Raises
    ------
    RequestError
        If nothing repeats, or there is no run of that name.

    Notes
    -----
    PREDIcT needs features per iteration (section 3.3) and takes them from the logs of a framework
    that knows of supersteps; Spark does not.
    """
    named = named_runs(log)
    if run is not None and run not in {found.name for found in named}:
        known = ", ".join(found.name for found in named) or "none is named"
        raise RequestError(f"the event log has no run {run!r}; accepted: {known}")
    if named:
        chosen = [found for found in named if run is None or found.name == run]
        return max(chosen, key=lambda found: found.finished - found.started)
    units = _joined(job_units(log))
    of_jobs = _loop(units, "jobs")
    whole = sum(unit.seconds for unit in units)
    if of_jobs is not None and _covered(of_jobs) >= 0.5 * whole:
        return of_jobs
    large = sorted((unit for unit in units if len(unit.stages) >= _LARGE), key=_duration)[-_FEW:]
    of_stages = [_loop_inside(stage_units(log, unit)) for unit in large]
    found = [loop for loop in (of_jobs, *of_stages) if loop is not None]
    if not found:
        raise RequestError(
            f"no supersteps can be told apart: nothing repeats in {_work(log, units)}; run more "
            "iterations, or put each in a job group whose name ends in its number"
        )
    return max(found, key=_covered)


def _work(log: EventLog, units: Sequence[Unit]) -> str:
    """Return how much work a log shows, without what the application did besides."""
    jobs = log.jobs.sort_values("started")
    ends = np.fmax.accumulate(jobs["finished"].to_numpy(np.float64, na_value=np.nan))
    begins = jobs["started"].to_numpy(np.float64)
    before = np.concatenate((begins[:1], ends[:-1]))
    seconds = float(np.nansum(np.maximum(ends - np.fmax(begins, before), 0.0)))
    pieces = "1 piece" if len(units) == 1 else f"{len(units)} pieces"
    return f"its {pieces} of work, whose jobs took {seconds:.1f} s"


def finished_jobs(log: EventLog) -> EventLog:
    """Return a log without jobs that still run."""
    jobs = log.jobs[log.jobs["finished"].notna()]
    return replace(log, jobs=jobs, stages=log.stages[log.stages["job"].isin(jobs["job"])])


def whole_supersteps(found: tuple[Superstep, ...]) -> tuple[Superstep, ...]:
    """Return supersteps of a job that goes on, without the last one if more of it may come.

    It is whole if it has as many jobs as most before it.
    """
    *before, last = found
    usual = Counter(len(step.jobs) for step in before).most_common(1)
    return found if usual and len(last.jobs) >= usual[0][0] else tuple(before)


def _by_messages(log: EventLog, name: str) -> Recognised | None:
    """Return the supersteps of an algorithm of GraphX, which makes messages in each; None if none.

    That is one more than rounds of its loop: the first messages are made before it. A superstep has
    what comes until the next messages are made; the last one, what was asked for in the same place.

    Parameters
    ----------
    log : EventLog
        Of whose jobs those in the group of that name count, if there are any.
    name : str
        Of the algorithm, such as ``graphx:pageRank``.
    """
    if "datasets" not in log.stages:  # an address tells no datasets
        return None
    own = log.jobs[log.jobs["group"] == name]
    units = job_units(replace(log, jobs=own) if len(own) else log)
    made = {
        int(job)
        for job, datasets in zip(log.stages["job"], log.stages["datasets"], strict=True)
        if COMBINED in datasets
    }
    firsts = [number for number, unit in enumerate(units) if made.intersection(unit.jobs)]
    if not firsts:
        return None
    last = firsts[-1]
    while last + 1 < len(units) and units[last + 1].site == units[firsts[-1]].site:
        last += 1
    groups = [
        list(units[start:stop]) for start, stop in zip(firsts, [*firsts[1:], last + 1], strict=True)
    ]
    return Recognised(_steps(groups), "names", name, "certain", "each makes messages of GraphX")


def recognised_now(log: EventLog, library: str | None = None) -> Recognised | None:
    """Return the supersteps of the newest run in a log, by jobs that ended; None if unknown.

    Parameters
    ----------
    log : EventLog
    library : str, optional
        The algorithm of GraphX that it is known to be.
    """
    over = finished_jobs(log)
    found = None if library is None else _by_messages(over, library)
    if found is not None:
        return found
    named = named_runs(over)
    try:
        return max(named, key=lambda each: each.finished) if named else recognise(over)
    except RequestError:
        return None


def recognised_so_far(log: EventLog, library: str | None = None) -> Recognised | None:
    """Return the supersteps that are done in the log of a job that goes on; None if none is known.

    Parameters
    ----------
    log : EventLog
    library : str, optional
        The algorithm of GraphX that it is known to be.
    """
    found = recognised_now(log, library)
    if found is None or found.by == "stages":  # of a job that has ended
        return found
    whole = whole_supersteps(found.supersteps)
    return replace(found, supersteps=whole) if whole else None


def named_runs(log: EventLog) -> list[Recognised]:
    """Return the runs whose supersteps are named by job groups or descriptions that count up."""
    series: dict[tuple[str, str], dict[int, list[int]]] = {}
    for job, *labels in log.jobs[["job", "group", "description"]].itertuples(index=False):
        # One that counts up is enough: notebooks set a job group, and libraries descriptions.
        for before, number, after in dict.fromkeys(chain(*map(_counted, labels))):
            series.setdefault((before, after), {}).setdefault(number, []).append(job)
    units = {unit.jobs: unit for unit in job_units(log)} if series else {}
    of_job = {job: unit for jobs, unit in units.items() for job in jobs}
    found = []
    for (before, after), numbered in series.items():
        order = list(numbered)
        first = order[0]
        if len(order) < 2 or first > 1 or order != list(range(first, first + len(order))):
            continue
        groups = [[of_job[job] for job in numbered[number]] for number in order if number > 0]
        # What is named 0 ends where the first superstep begins, planning included.
        setup = [of_job[job].finished for job in numbered.get(0, ())]
        steps = _steps([list(dict.fromkeys(group)) for group in groups], max(setup, default=None))
        name = (
            _COUNTED_WORD.sub("", before) or _LIMIT.sub("", after).strip(" )]}") or before.strip()
        )
        reason = f"job groups or descriptions count {len(steps)} supersteps"
        most = _LIMIT.match(after)
        limit = int(most.group(1)) if most and int(most.group(1)) >= order[-1] else None
        found.append(Recognised(steps, "names", name, "certain", reason, limit))
    return found


def _counted(label: object) -> Iterator[tuple[str, int, str]]:
    """Take a name apart at each of its numbers: which one counts up, only others like it show."""
    if isinstance(label, str):
        for number in islice(_NUMBER.finditer(label), _NUMBERS):
            yield label[: number.start()], int(number.group()), label[number.end() :]


_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,6}(?![0-9])")
_NUMBERS = 16  # of a name that are looked at; a choice: bounds the time
_LIMIT = re.compile(r"\s*(?:/|of|out of)\s*([0-9]{1,6})(?![0-9])")
_COUNTED_WORD = re.compile(r"\W*(?:superstep|iteration|round|step|epoch)?\W*$", re.IGNORECASE)


def _joined(units: list[Unit]) -> list[Unit]:
    """Join each unit that only looks once more at what the one before made.

    Whether anything is left to do is often asked of one partition first and then of more: several
    jobs at the same place, of which but one has work.
    """
    joined: list[Unit] = []
    for unit in units:
        last = joined[-1] if joined else None
        again = last is not None and last.site == unit.site and last.wrote > 0
        if again and unit.wrote == 0 and unit.skipped > 0 and last is not None:
            joined[-1] = replace(
                last,
                finished=max(last.finished, unit.finished),
                jobs=last.jobs + unit.jobs,
                stages=last.stages + unit.stages,
            )
        else:
            joined.append(unit)
    return joined


def _loop_inside(stages: Sequence[Unit]) -> Recognised | None:
    """Return the loop among the stages of a job; None if there is none.

    Datasets of a program are called by the lines that made them; stages that are called as the last
    one is, by the action, are parts of one query.
    """
    found = _loop(stages, "stages")
    action = stages[-1].site if stages else ""
    sites = {unit.site for unit in stages if found and unit.stages[0] in found.supersteps[0].stages}
    return None if action in sites else found


def _loop(units: Sequence[Unit], by: str) -> Recognised | None:
    """Return the loop that holds most time; None if nothing repeats."""
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
    # The stricter of two that hold about as much says more.
    most = max(held for held, _, _ in found)
    _, repetition, symbols = next(entry for entry in found if entry[0] >= 0.9 * most)  # judgement
    starts = loop_starts(symbols, repetition)
    groups = [
        list(units[start:stop])
        for start, stop in zip(starts, [*starts[1:], repetition.stop], strict=True)
    ]
    certainty, reason = _judged(groups, repetition, units, by)
    return Recognised(_steps(groups), by, groups[-1][0].site, certainty, reason)


def _widened(units: Sequence[Unit], found: Repetition) -> Repetition:
    """Take in what comes before and after if it is alike: first and last iterations differ."""
    start, stop, period = found.start, found.stop, found.period
    while start > 0 and _alike(units[start - 1], units[start - 1 + period]):
        start -= 1
    while stop < len(units) and _alike(units[stop], units[stop - period]):
        stop += 1
    return Repetition(start, stop, period)


def _alike(one: Unit, other: Unit) -> bool:
    if one.site != other.site:
        return False
    together = one.shape | other.shape
    return one.located or len(one.shape & other.shape) >= _ALIKE * max(len(together), 1)


def _judged(
    groups: list[list[Unit]], found: Repetition, units: Sequence[Unit], by: str
) -> tuple[str, str]:
    """Say how sure it is that the blocks are iterations, and why."""
    what = "the same work" if by == "jobs" else "the same stages of one job"
    held = sum(unit.seconds for group in groups for unit in group)
    share = held / max(sum(unit.seconds for unit in units), 1e-9)
    text = f"{what} comes {len(groups)} times and takes {share:.0%} of the time"
    located = all(unit.located for group in groups for unit in group)
    if len(groups) < _SURE:
        return "doubtful", f"{text}; two might be chance"
    if share < 0.25:  # judgement
        return "doubtful", f"{text}, which is little"
    if not located or by == "stages":
        return "likely", text if located else f"{text}; the log does not say from which line"
    places = sorted({unit.site for unit in groups[0]})
    return "certain", f"{text}, from {', '.join(places)}"


def _duration(unit: Unit) -> float:
    return unit.seconds


def _covered(loop: Recognised) -> float:
    return sum(step.seconds for step in loop.supersteps)


def _steps(groups: list[list[Unit]], since: float | None = None) -> tuple[Superstep, ...]:
    """Return the supersteps that groups of units make up; the first begins at `since`, if given."""
    steps: list[Superstep] = []
    for group in groups:
        started = min(unit.started for unit in group)
        if not steps and since is not None:
            started = min(started, since)
        finished = max(unit.finished for unit in group)
        before = steps[-1].finished if steps else started
        finished = max(finished, before)
        steps.append(
            Superstep(
                started=started,
                finished=finished,
                seconds=finished - before,
                jobs=tuple(job for unit in group for job in unit.jobs),
                stages=tuple(stage for unit in group for stage in unit.stages),
            )
        )
    return tuple(steps)
