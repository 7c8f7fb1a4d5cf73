"""The phases of a session outside supersteps: start, reading, setup, and JVM warm-up.

Session start and reading edges do not depend on the algorithm, so every run on a cluster is
evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import check_algorithm
from predict_graph.errors import RequestError
from predict_graph.prediction.seconds.cluster.sample_runs import WARM_UP, ClusterRun, by_session
from predict_graph.prediction.seconds.cluster.superstep_features import (
    rows_of_run,
    without_spilling,
)
from predict_graph.prediction.seconds.straight_line import Line, fitted_line

FloatArray = npt.NDArray[np.float64]

# Edges per machine at which another cluster weighs like one run: bounds extrapolation from samples
_FAR = 4e6


@dataclass(frozen=True)
class Phase:
    """The seconds of a phase: its work, and the additional time on first execution in a JVM."""

    work: Line
    start: Line

    def scaled(self, factor: float) -> Phase:
        """Return the phase with all times multiplied by `factor`."""
        return Phase(self.work.scaled(factor), self.start.scaled(factor))

    def at(self, machines: int, edges: float, *, warm: bool = False) -> float:
        """Return the seconds, on first execution or after JVM warm-up."""
        start = 0.0 if warm else self.start.at(math.log2(machines))
        return self.work.at(edges / machines) + start


@dataclass(frozen=True)
class CommonPhases:
    """The phases that all algorithms have in common on a cluster."""

    opening: Line
    read: Phase

    def scaled(self, factor: float) -> CommonPhases:
        """Return the phases with all times multiplied by `factor`."""
        return CommonPhases(self.opening.scaled(factor), self.read.scaled(factor))


def common_phases(
    runs: Iterable[ClusterRun], like: CommonPhases | None = None
) -> CommonPhases | None:
    """Return session start and reading, from runs of any algorithms on one cluster.

    None if no sample run starts a session: a real run includes session start in its setup. Samples
    are too small to show the read time per edge, which comes from real runs, and from another
    cluster scaled by the relative speed of session starts.
    """
    samples: list[ClusterRun] = []
    real: list[ClusterRun] = []
    for run in runs:
        (real if run.real else samples).append(run)
    opening = opening_of(samples, None if like is None else like.opening)
    reading = [run for run in samples if run.profile.phases["read"] > 0.0]
    warm = [run for run in reading if not run.cold and run.summary.purpose != WARM_UP]
    sessions = sessions_of(reading)
    if opening is None or not (warm and sessions):
        return None
    read = phase_of("read", warm, sessions, None if like is None else like.read.start)
    rows = [(*_read(run), 1.0) for run in warm]
    for run in real:
        size, seconds = _read(run)
        started = 0.0 if run.profile.engine.get("warm") else read.start.at(math.log2(run.machines))
        if seconds > started:  # the more of it is session start, the smaller its weight
            rows.append((size, seconds - started, 1.0 - started / seconds))
    if like is not None:
        slower = _slower([session.starting[0] for session in sessions], like.read)
        size, seconds, weight = np.median(np.array(rows[: len(warm)]), axis=0)
        seconds += slower * like.read.work.slope * max(_FAR - size, 0.0)
        rows.append((_FAR, seconds, weight))
    sizes, each, weights = np.array(rows).T
    return CommonPhases(opening, replace(read, work=fitted_line(sizes, each, weights)))


def _read(run: ClusterRun) -> tuple[float, float]:
    """Return edges per machine, and the seconds to read them."""
    return run.profile.graph["edges"] / run.machines, run.profile.phases["read"]


def _slower(first: list[ClusterRun], read: Phase) -> float:
    """Return the relative duration of reading in first runs of sessions."""
    said = [read.at(run.machines, int(run.profile.graph["edges"])) for run in first]
    return sum(run.profile.phases["read"] for run in first) / max(sum(said), 1e-9)


def opening_of(runs: Iterable[ClusterRun], like: Line | None = None) -> Line | None:
    """Return the time of session start from runs, by a line like another; None without runs."""
    opened: dict[int, list[float]] = {}
    for run in runs:
        if run.session_seconds > 0.0:
            opened.setdefault(run.machines, []).append(run.session_seconds)
    if not opened:
        return None
    context = {count: float(np.mean(seconds)) for count, seconds in opened.items()}
    return by_machines(context, like)


@dataclass(frozen=True)
class Session:
    """The first run of a session, its warm-up runs, and the same run after JVM warm-up."""

    starting: list[ClusterRun]
    warm: ClusterRun

    @property
    def machines(self) -> int:
        """The machines of the session."""
        return self.warm.machines

    def extra(self, phase: str) -> float:
        """Return the additional time of a phase on first execution."""
        first, warm = (run.profile.phases[phase] for run in (self.starting[0], self.warm))
        return max(first - warm, 0.0)

    @property
    def extra_supersteps(self) -> FloatArray:
        """Return the additional seconds of supersteps over those of the warm run, in order.

        Where all supersteps are alike, relative to a typical one, so that the first superstep of
        every run is included; else relative to the same one.
        """
        usual = typical_rows(self.warm)
        extra = []
        for run in self.starting:
            cold, warm = run.profile.iteration_seconds, self.warm.profile.iteration_seconds
            if len(usual) == 1:
                warm = np.full(len(cold), usual["seconds"].iloc[0])
            length = min(len(cold), len(warm))
            longer = cold[:length] - warm[:length]
            slower = np.maximum(longer, 0.0)
            net = max(float(longer.sum()), 0.0)
            extra.append(slower * (net / slower.sum()) if net > 0.0 else np.zeros(length))
        return np.concatenate(extra)


def sessions_of(runs: list[ClusterRun]) -> list[Session]:
    """Return the sessions with a first run and a warm run among the runs."""
    found = []
    for first, *rest in by_session(runs):
        if first.real:  # cold like the predicted run, so its typical rows include the warm-up
            found.append(Session([first], first))
            continue
        alike = [run for run in rest if _same_sample(run, first)]
        warm = next((run for run in alike if run.summary.purpose != WARM_UP), None)
        ran_before = bool(first.profile.engine.get("warm"))  # earlier run in the user's session
        if first.cold and warm is not None and not ran_before:
            warm_ups = [run for run in alike if run.summary.purpose == WARM_UP]
            found.append(Session([first, *warm_ups], warm))
    return found


def _same_sample(run: ClusterRun, other: ClusterRun) -> bool:
    sizes = [(each.machines, each.summary.vertices, each.summary.edges) for each in (run, other)]
    return sizes[0] == sizes[1]


def typical_rows(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run; one row of median seconds where supersteps are all alike."""
    rows = rows_of_run(run.profile, run.machines)
    if not (_alike(rows) and _steady(run.profile.algorithm)):
        return without_spilling(rows)
    typical = rows.iloc[[-1]].copy()
    later = rows.iloc[len(rows) // 2 :] if run.real else rows  # a real run starts cold
    for name in ("seconds", "working", "processor"):
        typical[name] = float(later[name].median())
    return typical


def _steady(name: str) -> bool:
    """Whether equal messages imply equal costs, which fails if messages get shorter."""
    try:
        return check_algorithm(name).steady
    except RequestError:  # a user function
        return True


def _alike(rows: pd.DataFrame) -> bool:
    """Whether supersteps have the same work; merging maps may dominate it."""
    known = [name for name in ("messages", "vertices", "merged") if name in rows]
    return len(rows[known].drop_duplicates()) == 1


def by_machines(seconds: Mapping[int, float], like: Line | None = None) -> Line:
    """Fit a time that grows with the logarithm of the machines, not with the graph.

    Two or three counts cannot distinguish a logarithm from a proportion (terms three and four of
    Ernest's equation 1); the logarithm extrapolates with the smaller error. A single count scales
    another line, and without data that line is returned unchanged, if there is one.
    """
    if like is not None and len(seconds) < 2:
        said = {count: like.at(math.log2(count)) for count in seconds}
        if all(said.values()):
            return like.scaled(math.prod(seconds[count] / said[count] for count in seconds))
    counts = np.array([math.log2(count) for count in seconds])
    return fitted_line(counts, np.array(list(seconds.values())))


def phase_of(
    name: str, warm: list[ClusterRun], sessions: list[Session], like: Line | None = None
) -> Phase:
    """Return the time of a phase in warm runs, and its additional time at session start.

    The latter is taken from `like` with few or no known sessions.
    """
    extra: dict[int, list[float]] = {}
    for session in sessions:
        extra.setdefault(session.machines, []).append(session.extra(name))
    sizes = np.array([run.profile.graph["edges"] / run.machines for run in warm])
    work = fitted_line(sizes, np.array([run.profile.phases[name] for run in warm]))
    starts = {count: float(np.mean(own)) for count, own in extra.items()}
    return Phase(work, by_machines(starts, like))


def start_of(sessions: list[Session]) -> FloatArray:
    """Return the mean additional seconds of the first supersteps of a session."""
    extra = [session.extra_supersteps for session in sessions]
    most = max((len(part) for part in extra), default=0)
    padded = [np.pad(part, (0, most - len(part))) for part in extra]
    return np.mean(padded, axis=0) if padded else np.zeros(0)
