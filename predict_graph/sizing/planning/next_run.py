"""Which configuration of a job to measure next, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.scaling.priors import shipped_prior
from costmodels.scaling.search import Ranking, Tried, rank_candidates
from costmodels.scaling.shapes import Prior
from predict_graph.answers import Answer, Table, sure
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.sizing.planning.candidates import Candidates
from predict_graph.sizing.planning.tried_runs import TriedRuns
from predict_graph.sizing.quantities import parse_duration

FloatArray = npt.NDArray[np.float64]

USES = 10  # runs of the job as chosen, by default of --uses; not tuned
_SHOWN = 5  # configurations of the short table; not tuned


@dataclass(frozen=True)
class Goal:
    """What is sought.

    Attributes
    ----------
    name : str
        ``"cheapest"``, ``"fastest"`` or ``"deadline"``.
    deadline : float or None
        Seconds; the cheapest configuration within them is sought.
    """

    name: str
    deadline: float | None = None

    @property
    def unit(self) -> str:
        """Of what is made small."""
        return "s" if self.name == "fastest" else "USD"

    def __str__(self) -> str:
        if self.deadline is None:
            return self.name
        return f"cheapest within {readable_seconds(self.deadline)}"


def parse_goal(text: str) -> Goal:
    """Return the goal of ``cheapest``, ``fastest`` or ``deadline=10m``.

    Raises
    ------
    RequestError
        If it is none of these.

    Examples
    --------
    >>> parse_goal("deadline=10m").deadline
    600.0
    """
    name, equals, time = text.partition("=")
    if name == "deadline" and equals:
        return Goal(name, parse_duration(time, "deadline"))
    if text not in ("cheapest", "fastest"):
        raise RequestError(f"the goal is {text!r}; accepted: cheapest, fastest, deadline=10m")
    return Goal(text)


@dataclass(frozen=True)
class Option:
    """One configuration.

    Attributes
    ----------
    machine_type : str
    machines : int
    seconds, low, high : float
        Predicted, with a 90% interval; not a number while no run has succeeded.
    cost, cost_high : float
        Of one run, in USD; not a number without prices.
    gain : float
        Expected improvement on the best run, as a part of what that takes or costs; before the
        first run that succeeds, on a typical candidate.
    chance : float
        That a run succeeds, within the deadline where there is one.
    measured : float or None
        Median seconds of its runs that succeeded.
    """

    machine_type: str
    machines: int
    seconds: float
    low: float
    high: float
    cost: float
    cost_high: float
    gain: float
    chance: float
    measured: float | None

    @property
    def name(self) -> str:
        """Such as ``m4.large x 8``."""
        return f"{self.machine_type} x {self.machines}"


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What to measure next.

    Attributes
    ----------
    goal : Goal
    best : Option or None
        The best that was measured.
    next : tuple of Option
        To be measured, the most promising first; empty when all were.
    stop : str or None
        Why measuring more does not pay; None while it does.
    options : tuple of Option
        All candidates by falling gain.
    uses : int
        How often the job will run as chosen.
    warnings : tuple of str
    source : str
        File of the runs.
    """

    goal: Goal
    best: Option | None
    next: tuple[Option, ...]
    stop: str | None
    options: tuple[Option, ...]
    uses: int
    warnings: tuple[str, ...]
    source: str = ""

    @property
    def answer(self) -> Answer:
        """What to measure next, or why to stop."""
        return _answer_of(self)

    @property
    def title(self) -> str:
        """What it is the next run of."""
        return f"next run of {Path(self.source).name}"

    def to_frame(self) -> pd.DataFrame:
        """Return all candidates, the most promising first."""
        rows = [vars(one) for one in self.options]
        return pd.DataFrame(rows).assign(next=[one in self.next for one in self.options])

    def pictures(self) -> list[Picture]:
        """Return the time of the most promising candidates, and of the best run."""
        from predict_graph.sizing.picture import pictures_of_advice

        return pictures_of_advice(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice, ready for JSON; unknown numbers are null."""
        return {
            "schema": 1,
            "verdict": {"sentence": self.answer.sentence},
            "runs": self.source,
            "goal": self.goal.name,
            "deadline_seconds": self.goal.deadline,
            "uses": self.uses,
            "best": None if self.best is None else _plain(self.best),
            "next": [_plain(one) for one in self.next],
            "stop": self.stop,
            "candidates": [_plain(one) for one in self.options],
            "warnings": list(self.warnings),
        }


def advise(
    candidates: Candidates,
    runs: TriedRuns,
    goal: Goal,
    *,
    prior: Prior | None = None,
    parallel: int = 1,
    uses: int = USES,
    warnings: Sequence[str] = (),
    source: str = "",
) -> Advice:
    """Choose what to measure next.

    Parameters
    ----------
    candidates : Candidates
    runs : TriedRuns
    goal : Goal
    prior : Prior, optional
        Of past jobs; by default that of the package alone.
    parallel : int, default 1
        How many to choose.
    uses : int, default 10
        How often the job will run as chosen: measuring stops when what it is expected to gain in
        all of these costs more than the measurement.
    warnings : sequence of str, optional
        To be passed on.
    source : str, optional
        File of the runs.

    Raises
    ------
    RequestError
        If an option is wrong, or the goal needs prices that are not there.
    JobError
        If no candidate can meet the deadline, even in distributions twice as wide as predicted;
        says which comes closest.
    """
    for name, value in (("parallel", parallel), ("uses", uses)):
        if value < 1:
            raise RequestError(f"{name} is {value}; accepted: 1 or more")
    entries = [*candidates.entries, *runs.others]
    every = Candidates(candidates.types, entries, candidates.path)
    columns = every.columns
    priced = all(kind.price is not None for kind in candidates.types.values())
    rates = every.rates() if priced or goal.unit == "USD" else np.full(len(entries), np.nan)
    learnt = shipped_prior() if prior is None else prior
    priors = [learnt] if learnt.parent is None else [learnt, learnt.parent]

    def ranked(tried: Tried) -> Ranking:
        rate = None if goal.unit == "s" else rates
        return rank_candidates(columns, tried, priors, rate=rate, deadline=goal.deadline)

    first = ranked(runs.tried)
    options = [_option(i, entries, first, rates, runs.tried) for i in range(len(entries))]
    count = len(candidates.entries)
    said = [*warnings, *runs.warnings, *_check_deadline(goal, first, options)]
    best = None if first.best is None else options[first.best]
    picked = _picked(first, runs.tried, ranked, count, parallel)

    def net(i: int) -> float:
        gain, price = _amounts(options[i], best, goal, uses)
        return gain - price

    if picked and best is not None and not net(picked[0]) >= 0:  # a cheaper run may
        left = [i for i in range(count) if i not in set(runs.tried.candidate.tolist())]
        picked[0] = max(left, key=lambda i: (net(i) >= 0, net(i)))
        picked[1:] = [i for i in picked[1:] if i != picked[0]]
    following = tuple(options[i] for i in picked)
    return Advice(
        goal=goal,
        best=best,
        next=following,
        stop=_stop(following, best, goal, uses),
        options=tuple(options[i] for i in first.order if i < count),
        uses=uses,
        warnings=tuple(said),
        source=source,
    )


def _picked(first: Ranking, tried: Tried, ranked: Any, count: int, parallel: int) -> list[int]:
    """Return places of what to measure; each further one as if the ones before did as predicted."""
    found: list[int] = []
    ranking = first
    while len(found) < parallel:
        known = {*tried.candidate.tolist(), *found}
        place = next((int(i) for i in ranking.order if i < count and i not in known), None)
        if place is None:
            break
        found.append(place)
        if len(found) < parallel:
            seconds = ranking.seconds[place]
            outcome = "ok" if np.isfinite(seconds) else "failed"
            tried = Tried(
                np.append(tried.candidate, place),
                np.append(tried.seconds, seconds if outcome == "ok" else 1.0),
                [*tried.outcome, outcome],
            )
            ranking = ranked(tried)
    return found


def _option(
    i: int, entries: Sequence[tuple[str, int]], ranking: Ranking, rates: FloatArray, tried: Tried
) -> Option:
    done = tried.at("ok")
    mine = tried.seconds[done][tried.candidate[done] == i]
    seconds, low, high = (float(x[i]) for x in (ranking.seconds, ranking.low, ranking.high))
    return Option(
        *entries[i],
        seconds,
        low,
        high,
        float(rates[i]) * seconds,
        float(rates[i]) * high,
        float(ranking.gain[i]),
        float(ranking.chance[i]),
        float(np.median(mine)) if len(mine) else None,
    )


def _check_deadline(goal: Goal, ranking: Ranking, options: Sequence[Option]) -> list[str]:
    """Return a sentence if no candidate is predicted to meet the deadline."""
    if goal.deadline is None or ranking.best is not None or np.isnan(ranking.seconds).any():
        return []
    nearest = min(options, key=lambda one: one.measured or one.seconds)
    if nearest.measured is None:
        times = (readable_seconds(x) for x in (nearest.seconds, nearest.low, nearest.high))
        known = "in {} ({} to {}) as predicted".format(*times)
    else:
        known = f"in {readable_seconds(nearest.measured)} as measured"
    said = f"done in {readable_seconds(goal.deadline)}; {nearest.name} comes closest, {known}"
    if not ranking.gain.any():
        raise JobError(f"no candidate can be {said}")
    likely = (ranking.low <= goal.deadline).any()
    return [] if likely else [f"no candidate is likely to be {said}"]


def _amounts(one: Option, best: Option | None, goal: Goal, uses: int) -> tuple[float, float]:
    """Return what a measurement is expected to gain in all uses, and what it costs."""
    price = one.seconds if goal.unit == "s" else one.cost
    if best is None or best.measured is None:
        return np.inf, price
    rate = 1.0 if goal.unit == "s" else best.cost / best.seconds
    return one.gain * rate * best.measured * uses, price


def _stop(following: Sequence[Option], best: Option | None, goal: Goal, uses: int) -> str | None:
    if not following:
        return "all candidates were tried"
    gain, price = _amounts(following[0], best, goal, uses)
    if best is None or gain - price >= 0:
        return None
    return (
        f"another run is expected to gain {_amount(gain, goal)} in {uses} runs of the job, and "
        f"costs {_amount(price, goal)}"
    )


def _amount(value: float, goal: Goal) -> str:
    return readable_seconds(value) if goal.unit == "s" else f"{value:.3g} USD"


def _answer_of(advice: Advice) -> Answer:
    """Return the answer of an advice: what to measure next, or why to stop."""
    best = advice.best
    facts = []
    if best is not None and best.measured is not None:
        cost = best.cost / best.seconds * best.measured
        priced = f", {cost:.3g} USD" if cost == cost else ""
        facts = [
            (
                f"best measured ({advice.goal})",
                f"{best.name}, {readable_seconds(best.measured)}{priced}",
            )
        ]
    said = "; ".join(f"{one.name}{_why(one, advice)}" for one in advice.next)
    sentence = f"next: {said}" if advice.stop is None else f"stop: {advice.stop}"
    if advice.stop is not None and facts:
        sentence += f"; best measured ({advice.goal}): {facts.pop()[1]}"
    rows = [
        (
            one.name,
            *(readable_seconds(x) if x == x else "?" for x in (one.seconds, one.low, one.high)),
            f"{one.cost:.3g}" if one.cost == one.cost else "?",
            f"{one.gain:.1%}" if best is not None else f"x{one.gain:.2f}",
            f"{one.chance:.0%}",
        )
        for one in [*advice.next, *(o for o in advice.options if o not in advice.next)]
        if one.measured is None
    ]
    columns = ["configuration", "time", "from", "to", "USD", "expected gain", "succeeds"]
    title = f"most promising for the goal: {advice.goal}"
    return Answer(
        sentence,
        facts,
        [Table(title, columns, rows[:_SHOWN])] if rows else [],
        advice.warnings,
        more=[Table("all that were not measured", columns, rows)] if len(rows) > _SHOWN else [],
    )


def _why(one: Option, now: Advice) -> str:
    if now.best is None or one.seconds != one.seconds:
        return ", estimated from other jobs"
    cost = f", {one.cost:.3g} USD (at most {one.cost_high:.3g})" if one.cost == one.cost else ""
    return (
        f", {readable_seconds(one.seconds)} ({sure(one.low, one.high)}){cost}, expected "
        f"gain {one.gain:.1%} of the best"
    )


def _plain(one: Option) -> dict[str, Any]:
    """Return an option for JSON; unknown numbers are null."""
    return {n: None if isinstance(v, float) and np.isnan(v) else v for n, v in vars(one).items()}
