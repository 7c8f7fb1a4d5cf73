"""Which configuration of a job to measure next, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costmodels.scaling.search import rank_candidates
from predict_graph.answers import Answer, Table, sure
from predict_graph.durations import counted, parse_duration, readable_seconds, singular
from predict_graph.errors import JobError, RequestError
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture, unit_of
from predict_graph.results import Result
from predict_graph.sizing.fitting.fit_runs import PastJobs
from predict_graph.sizing.measuring.measurements import Measurements
from predict_graph.sizing.planning.candidates import PRICE_NAMES, Candidates, columns_of
from predict_graph.sizing.quantities import check_count


@dataclass(frozen=True)
class Goal:
    """What is sought.

    Attributes
    ----------
    name : str
        ``"cheapest"``, ``"fastest"`` or ``"deadline"``.
    deadline : float or None
        Seconds; the cheapest configuration within them is sought.
    cost_unit : str
        ``"USD"``, or ``"machine-hours"`` where there are no prices.
    """

    name: str
    deadline: float | None = None
    cost_unit: str = "USD"

    @property
    def is_time(self) -> bool:
        """Whether time is made small, and not cost."""
        return self.name == "fastest"

    @property
    def better(self) -> str:
        """What a better configuration is."""
        return "faster" if self.is_time else "cheaper"

    def cost(self, value: float) -> str:
        """Return a cost with its unit."""
        return f"{value:.3g} {self.cost_unit}"

    def amount(self, value: float) -> str:
        """Return an amount of what is made small."""
        return readable_seconds(value) if self.is_time else self.cost(value)

    def __str__(self) -> str:
        if self.deadline is None:
            return self.name
        return f"cheapest within {readable_seconds(self.deadline)}"


def _texts(values: pd.Series, text: Callable[[float], str]) -> list[str]:
    """Return values as texts; nothing where they are not known."""
    return [text(value) if np.isfinite(value) else "" for value in values]


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


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What to measure next.

    Attributes
    ----------
    goal : Goal
    options : DataFrame
        All candidates by falling gain: ``name``; ``machine_type``, empty where it is not known, and
        ``machines``; ``seconds`` as
        predicted with a 90% interval, ``low`` to ``high``, not a number while no run has succeeded;
        ``cost`` and ``cost_high`` of one run, not a number without prices; ``gain``, the
        expected improvement on the best run, as a part of what that takes or costs (before the
        first run that succeeds, on a typical candidate); ``beats``, the probability that a run is
        better than the best so far; ``chance``, that it succeeds, within the deadline where there
        is one; ``measured``, the median seconds of its runs.
    best : dict or None
        The best that was measured, as a row of `options`.
    next : list of int
        What to measure, the most promising first, by the index of `options`; empty when all were.
    stop : str or None
        Why measuring more does not pay; None while it does.
    uses : int
        How often the job will run as chosen.
    warnings : tuple of str
    source : str
        File of the runs.
    like : str or None
        The past job that was named as one like this.
    """

    goal: Goal
    options: pd.DataFrame
    best: dict[Any, Any] | None
    next: list[int]
    stop: str | None
    uses: int
    warnings: tuple[str, ...]
    source: str = ""
    like: str | None = None

    @property
    def answer(self) -> Answer:
        """What to measure next, or why to stop, with a table of the first five."""
        best, following = self.best, self.options.loc[self.next]
        facts = []
        if best is not None:
            cost = best["cost"] / best["seconds"] * best["measured"]
            time = readable_seconds(best["measured"])
            priced = f", {self.goal.cost(cost)}" if cost == cost else ""
            facts = [(f"best measured ({self.goal})", f"{best['name']}, {time}{priced}")]
        elif self.stop is None and self.options["measured"].notna().any():
            facts = [(f"best measured ({self.goal})", "none")]
        said = "; ".join(f"{one.name}{self._why(one)}" for one in following.itertuples(index=False))
        sentence = f"measure next: {said}" if self.stop is None else f"stop: {self.stop}"
        if self.stop is not None and facts:
            sentence += "; {}: {}".format(*facts.pop())
        others = self.options[self.options["measured"].isna()].drop(index=self.next)
        shown: Any = pd.concat([following, others])
        title = f"first {min(len(shown), 5)} of {len(shown)} by what a run may save: {self.goal}"
        found: dict[str, list[str]] = {
            "configuration": list(shown["name"]),
            "time": _texts(shown["seconds"], readable_seconds),
            "from (90%)": _texts(shown["low"], readable_seconds),
            "to": _texts(shown["high"], readable_seconds),
            self.goal.cost_unit: _texts(shown["cost"], "{:.3g}".format),
            f"{self.goal.better} than the best": _texts(shown["beats"], "{:.0%}".format),
            # Before the first run, times are known up to a factor only.
            f"{'time' if self.goal.is_time else 'cost'} beside a typical one's": (
                _texts(1 / shown["gain"], "{:.0%}".format) if shown["seconds"].isna().all() else []
            ),
            "chance in time" if self.goal.deadline else "chance to succeed": (
                _texts(shown["chance"], "{:.0%}".format) if shown["chance"].min() < 1 else []
            ),
        }
        found = {name: cells for name, cells in found.items() if any(cells)}
        columns, rows = list(found), list(zip(*found.values(), strict=True))
        return Answer(
            sentence,
            facts,
            [Table(title, columns, rows[:5])] if rows else [],
            self.warnings,
            more=[Table("all that were not measured", columns, rows)] if rows[5:] else [],
            badge=None if self.stop is None else ("stop", "good"),
        )

    def _why(self, one: Any) -> str:
        if np.isnan(one.seconds):
            return f", estimated from {self.like or 'other jobs'}"
        cost = beats = ""
        if np.isfinite(one.cost):
            cost = f", {self.goal.cost(one.cost)} (up to {one.cost_high:.3g})"
        if self.best is not None:
            beats = f", {one.beats:.0%} likely to be {self.goal.better} than the best measured"
        return f", {sure(Interval(one.seconds, one.low, one.high))}{cost}{beats}"

    @property
    def title(self) -> str:
        """What it is the next run of."""
        return f"next run of {Path(self.source).name}"

    def to_frame(self) -> pd.DataFrame:
        """Return all candidates, the most promising first."""
        return self.options.assign(next=self.options.index.isin(self.next))

    def pictures(self, most: int = 10) -> list[Picture]:
        """Return the time of the most promising candidates, and of the best run."""
        known = self.to_frame().dropna(subset="seconds")
        if self.best is not None:  # which may be no candidate
            known = pd.concat([pd.DataFrame([self.best | {"next": False}]), known])
        found = known.drop_duplicates("name").sort_values("next", ascending=False, kind="stable")
        if found.empty:
            return []
        found = found.head(max(most, len(self.next)) + 1)  # with the best, which follows those
        found = found.iloc[found["measured"].fillna(found["seconds"]).argsort(kind="stable")]
        measured, names = found["measured"], found["name"]
        times = np.array([measured.fillna(found[end]) for end in ("seconds", "low", "high")])
        names = names.where(measured.isna(), names + " (measured)")
        colors = dict.fromkeys(names[measured.notna()], "actual")
        colors |= dict.fromkeys(names[found["next"]], "ink")
        divisor, unit = unit_of(times[0])
        picture = dot_picture(
            "Time of the candidates",
            "Time of the most promising configurations, those to measure next as squares: "
            f"{self.answer.sentence}.",
            names.tolist(),
            *times / divisor,
            xlabel=f"time, {unit} (line: 90% sure)",
            color="predicted",
            others=colors,
        )
        return [picture]

    def to_dict(self) -> dict[str, Any]:
        """Return the advice, ready for JSON."""
        options = self.options.drop(columns="name")
        return {
            "schema": 1,
            "verdict": {"sentence": self.answer.sentence},
            "runs": self.source,
            "goal": self.goal.name,
            "deadline_seconds": self.goal.deadline,
            "cost_unit": self.goal.cost_unit,
            "uses": self.uses,
            "like": self.like,
            "stop": self.stop,
            "best": self.best and {n: v for n, v in self.best.items() if n != "name"},
            "next": options.loc[self.next].to_dict("records"),
            "candidates": options.to_dict("records"),
            "warnings": list(self.warnings),
        }


def advise(
    candidates: Candidates,
    runs: Measurements,
    goal: Goal,
    *,
    past: PastJobs | None = None,
    parallel: int = 1,
    uses: int = 10,
) -> Advice:
    """Choose what to measure next.

    Parameters
    ----------
    candidates : Candidates
    runs : Measurements
        Of :func:`~predict_graph.sizing.planning.candidates.read_tried`.
    goal : Goal
    past : PastJobs, optional
        Past jobs of the cluster.
    parallel : int, default 1
        How many to choose.
    uses : int, default 10
        How often the job will run as chosen: measuring stops when what it is expected to gain in
        all of these costs more than the measurement.

    Raises
    ------
    RequestError
        If an option is wrong, or the goal needs prices that are not there.
    JobError
        If no candidate has a chance to meet the deadline; says which comes closest.
    """
    parallel = check_count("parallel is", parallel)
    uses = check_count("uses is", uses)
    past = PastJobs() if past is None else past
    known, places = runs.runs.astype({"machines": int}), ["machine_type", "machines"]
    if not candidates.described:
        goal = replace(goal, cost_unit=f"{singular(runs.unit)}-hours")
    said = [*past.warnings, *runs.notes, *runs.contradictions]
    said += [f"runs differ in {name!r}, which the model does not see" for name in runs.varying]
    if len(known) and runs.done.empty:
        said.append(
            f"none of the {len(known)} runs succeeded; what is next is estimated from other jobs, "
            "away from them"
        )
    prices = {name: kind.price for name, kind in candidates.types.items()}
    free = [name for name, price in prices.items() if price is None and not goal.is_time]
    entries = candidates.entries[~candidates.entries["machine_type"].isin(free)]
    if entries.empty:
        raise RequestError(
            f"{candidates.path} has no price of {free[0]}, which this goal needs; accepted: "
            f"{PRICE_NAMES[0]} of one type or more, or --goal fastest"
        )
    said += [f"{name} has no price: it is no candidate" for name in free]
    # The candidates, and what else was measured on their types.
    table = pd.concat([entries, known[places]]).drop_duplicates(ignore_index=True)
    columns = columns_of(table.assign(scale=1.0), candidates.types)
    # What a second of each costs.
    rates = (table["machines"] * table["machine_type"].map(prices).astype(float)).to_numpy() / 3600
    rate = np.ones(len(table)) if goal.is_time else np.where(np.isnan(rates), np.inf, rates)

    limits: dict[str, Any] = {"rate": rate, "deadline": goal.deadline or np.inf}

    def ranked(tried: pd.DataFrame) -> tuple[pd.DataFrame, int | None]:
        return rank_candidates(columns, tried, past.priors, like=past.laws, **limits)

    tried = known[[*places, "seconds", "outcome"]].merge(table.reset_index(names="candidate"))
    ranking, best = ranked(tried)
    medians = runs.done.groupby(places)["seconds"].median().rename("measured")
    options = pd.DataFrame(
        {
            "name": [
                f"{count} × {kind}" if kind else counted(count, runs.unit)
                for kind, count in zip(table["machine_type"], table["machines"], strict=True)
            ],
            **table[places],
            **ranking[["seconds", "low", "high"]],
            "cost": rates * ranking["seconds"],
            "cost_high": rates * ranking["high"],
            **ranking[["gain", "beats", "chance"]],
            "measured": table.join(medians, on=places)["measured"],
        }
    )
    own = range(len(entries))
    left = [i for i in own if i not in set(tried["candidate"])]
    picked = _picked(ranking, tried, ranked, left, parallel)
    stop = None if picked else "all candidates were tried"
    if picked and best is not None:
        # In all uses, in what the goal makes small.
        gain = ranking["gain"] * (uses * rate[best] * options["measured"][best])
        price = rate * ranking["seconds"]
        if gain[picked[0]] < price[picked[0]]:  # a cheaper run may pay
            top = max(left, key=lambda i: gain[i] - price[i])
            picked = [top, *(i for i in picked[1:] if i != top)]
            if gain[top] < price[top]:
                stop = (
                    f"another run is expected to gain {goal.amount(gain[top])} in "
                    f"{counted(uses)} of the job, and costs {goal.amount(price[top])}"
                )
    return Advice(
        goal=goal,
        options=options.head(len(own)).sort_values("gain", ascending=False, kind="stable"),
        best=None if best is None else options.loc[[best]].to_dict("records")[0],
        next=picked,
        stop=stop,
        uses=uses,
        warnings=(*said, *_check_deadline(goal, best, options)),
        source=str(runs.path),
        like=past.like,
    )


def _picked(
    ranking: pd.DataFrame,
    tried: pd.DataFrame,
    ranked: Callable[[pd.DataFrame], tuple[pd.DataFrame, int | None]],
    left: Sequence[int],
    parallel: int,
) -> list[int]:
    """Return places of what to measure; each further one as if the ones before did as predicted."""
    found: list[int] = []
    while len(found) < min(parallel, len(left)):
        if found:
            ranking, _ = ranked(tried)
        top = max((i for i in left if i not in found), key=lambda i: ranking["gain"][i])
        seconds = ranking["seconds"][top]
        outcome = "ok" if np.isfinite(seconds) else "failed"
        run = pd.DataFrame({"candidate": [top], "seconds": [seconds], "outcome": [outcome]})
        tried = pd.concat([tried, run])
        found.append(top)
    return found


def _check_deadline(goal: Goal, best: int | None, options: pd.DataFrame) -> list[str]:
    """Return a sentence if no candidate is predicted to meet the deadline."""
    if goal.deadline is None or best is not None or options["seconds"].isna().any():
        return []
    times = options["measured"].fillna(options["seconds"])
    nearest: Any = options.loc[times == times.min()].iloc[0]
    took = f"measured in {readable_seconds(times.min())}"
    if np.isnan(nearest["measured"]):
        took = f"predicted to take {sure(Interval(times.min(), nearest['low'], nearest['high']))}"
    said = f"done in {readable_seconds(goal.deadline)}; {nearest['name']} comes closest, {took}"
    if not (options["gain"] * options["chance"]).any():
        raise JobError(f"no candidate can be {said}")
    likely = (options["low"] <= goal.deadline).any()
    return [] if likely else [f"no candidate is likely to be {said}"]
