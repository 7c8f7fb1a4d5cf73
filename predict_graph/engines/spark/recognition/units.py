"""The sequence of work units in a job: SQL executions and jobs, or stages of one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from predict_graph.engines.spark.log.eventlog import EventLog

# Java calls by reflection from other classes once the same call has been made some 15 times.
_NO_LINE = re.compile(
    r" at .*(NativeMethodAccessorImpl|DirectMethodHandleAccessor|CompletableFuture|LambdaForm|:0$)"
)
_SITE = re.compile(r"\S+ at \S.*:\d+")
_LIBRARY = re.compile(
    r"(?:org\.apache\.spark\.(?!graphx\.)|java\.|javax\.|jdk\.|sun\.|py4j\.|scala\.)"
)
_FRAME = re.compile(r"^\s*(?:at )?(\S+)\(([\w$]+\.(?:scala|java|py)):(\d+)\)", re.MULTILINE)


def call_of(site: str) -> str:
    """Return a call site without what Java names anew after some calls.

    Examples
    --------
    >>> call_of("count at <unknown>:0"), call_of("count at a.py:3")
    ('count', 'count at a.py:3')
    """
    return _NO_LINE.split(site)[0]


@dataclass(frozen=True)
class Span:
    """A part of an application: when it ran, and its jobs and stages."""

    started: float
    finished: float
    jobs: tuple[int, ...]
    stages: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """The wall-clock time."""
        return max(self.finished - self.started, 0.0)

    @staticmethod
    def over(parts: Sequence[Span]) -> Span:
        """Return the span of some parts together."""
        return Span(
            min(part.started for part in parts),
            max(part.finished for part in parts),
            tuple(job for part in parts for job in part.jobs),
            tuple(dict.fromkeys(stage for part in parts for stage in part.stages)),
        )


@dataclass(frozen=True, kw_only=True)
class Unit(Span):
    """A unit of work that Spark executed in one go."""

    site: str
    located: bool
    shape: frozenset[str]
    skipped: int = 0
    wrote: int = 0


def job_units(log: EventLog) -> list[Unit]:
    """Return the SQL executions, and the jobs outside of any, in starting order.

    Under adaptive execution each stage of an SQL execution is a separate job; together they form
    one unit.
    """
    if log.jobs.empty:
        return []
    roots = dict(zip(log.executions["execution"], log.executions["root"], strict=True))
    executions = log.executions.set_index("execution")
    wrote = log.tasks.groupby("stage")["shuffle_write_records"].sum()
    own_root = log.jobs["execution"].map(lambda each: roots.get(each, each))
    # A job outside of SQL executions is its own root.
    jobs = log.jobs.assign(root=own_root.where(own_root >= 0, -1 - log.jobs["job"]))
    ran = dict(list(log.stages.groupby("job")))
    units = []
    for root, own in jobs.groupby("root", sort=False):
        stages = pd.concat([ran.get(job, log.stages.iloc[:0]) for job in own["job"]])
        numbers = tuple(sorted(set(stages["stage"])))
        site = str(stages.sort_values("stage")["name"].iloc[-1]) if len(stages) else ""
        started, finished = own["started"].min(), own["finished"].max()
        if root in executions.index:
            execution = executions.loc[root]
            site = _located(str(execution["description"]), site, str(execution["details"]))
            started = min(started, execution["started"])
            finished = max(finished, execution["finished"])
        if finished != finished:  # NaN: the log ends before the job does
            finished = log.tasks.loc[log.tasks["stage"].isin(numbers), "finished"].max()
        unit = Unit(
            site=call_of(site),
            located=bool(site) and not _NO_LINE.search(site),
            shape=frozenset().union(*stages["operators"]),
            started=float(started),
            finished=float(finished) if finished == finished else float(started),
            jobs=tuple(own["job"]),
            stages=numbers,
            skipped=max(int(own["stages"].sum()) - len(numbers), 0),
            wrote=int(wrote.reindex(list(numbers)).fillna(0).sum()),
        )
        units.append(unit)
    return sorted(units, key=lambda unit: unit.started)


def _located(description: str, stage: str, details: str) -> str:
    """Return the program line that started an SQL execution, if the log has it.

    This is its description, unless the program replaced it; else the name of its last stage; else
    the first call from outside Spark.
    """
    for site in (description, stage):
        if _SITE.fullmatch(site) and not _NO_LINE.search(site):
            return site
    for frame in _FRAME.finditer(details):
        if not _LIBRARY.match(frame.group(1)):
            return f"{frame.group(1).rsplit('.', 1)[-1]} at {frame.group(2)}:{frame.group(3)}"
    return description if _SITE.fullmatch(description) else stage


def stage_units(log: EventLog, within: Unit) -> list[Unit]:
    """Return the stages of a unit, in plan order."""
    tasks = log.tasks.groupby("stage").agg(
        started=("started", "min"),
        finished=("finished", "max"),
        wrote=("shuffle_write_records", "sum"),
    )
    own = log.stages[log.stages["stage"].isin(within.stages)].drop_duplicates("stage")
    own = own.join(tasks, on="stage", how="inner")
    return [
        Unit(
            site=call_of(stage["name"]),
            located=not _NO_LINE.search(stage["name"]),
            shape=stage["operators"] | {f"of {len(stage['parents'])} stages"},
            started=stage["started"],
            finished=stage["finished"],
            jobs=(stage["job"],),
            stages=(stage["stage"],),
            wrote=stage["wrote"],
        )
        for stage in own.to_dict("records")
    ]


def united(pieces: pd.DataFrame) -> float:
    """Return the length of the union of intervals from ``started`` to ``finished``."""
    begin, end = pieces[["started", "finished"]].sort_values("started").to_numpy(np.float64).T
    reached = np.maximum.accumulate(np.concatenate(([-np.inf], end[:-1])))
    return float(np.maximum(end - np.maximum(begin, reached), 0.0).sum())
