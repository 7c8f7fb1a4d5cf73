"""Plans: configurations of a job or of tasks, the best of them, and the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.answers import Answer, Table
from predict_graph.durations import counted, readable_number, readable_seconds
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import Line, costs, dot_picture, draw_lines, unit_of
from predict_graph.results import Result

_BY_TIME = ["high", "cost_high", "machines"]
_BY_COST = ["cost_high", "high", "machines"]


@dataclass(frozen=True)
class Choice:
    """What was asked for, and the configuration that does it.

    Attributes
    ----------
    wanted : str
        ``"cheapest"`` or ``"fastest"``.
    condition : str
        What it must keep, in words: ``"done in 10 min with 90% confidence"``.
    configuration : named tuple or None
        A row of the configurations; None when no configuration does it.
    nearest : dict of str to named tuple
        When none does: what can be had instead, by what it is.
    """

    wanted: str
    condition: str
    configuration: Any
    nearest: Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """All configurations, the best of them, and the choice.

    Attributes
    ----------
    scale : float or None
        None for tasks.
    confidence : float
    deadline, budget : float or None
        Seconds; USD.
    spare : int
    spare_test : float
        Seconds for which all machines, the spare ones too, are held before the job starts.
    iterations : int or None
    cost_unit : str
        ``"USD"``, or hours of the unit: ``"machine-hours"``, ``"core-hours"``, ``"GPU-hours"``, ….
    unit : str
        What is counted: ``"machines"``, ``"cores"``, ``"GPUs"``, …; ``"assignment"`` for tasks.
    models : tuple of JobModel, or of TaskModel
    configurations : DataFrame
        One row a way to run the job, by type and count; of tasks by growing time: ``name``;
        ``machine_type`` (None if not known), ``machines`` that the job runs on, without the spare
        ones; ``seconds`` as predicted, ``low`` and ``high``, what a run takes at least and at most,
        each with the confidence of the plan, the test of spare machines included; ``cost`` and
        ``cost_high``, at the predicted time and at `high`, infinite without a price;
        ``in_measured_range``, whether the machine count lies between the smallest and the largest
        that the model was fitted to; ``chance`` that a run succeeds, estimated from failed runs:
        `high` covers those that fail, unless they are more than the confidence allows, when it is
        not chosen. Of tasks also the ``assignment``, and the ``task_seconds`` of each.
    warnings : tuple of str
    """

    confidence: float
    deadline: float | None
    budget: float | None
    cost_unit: str
    unit: str
    models: tuple[Any, ...]
    configurations: pd.DataFrame = field(default_factory=pd.DataFrame)
    scale: float | None = None
    spare: int = 0
    spare_test: float = 0.0
    iterations: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def sound(self) -> pd.DataFrame:
        """Configurations that succeed with more than the confidence."""
        return self.configurations[self.configurations["chance"] > self.confidence]

    @property
    def frontier(self) -> pd.DataFrame:
        """Configurations that none beats in both time and cost, by growing time.

        Compared are the time and the cost that hold with the confidence of the plan.
        """
        rows = self.sound.sort_values(_BY_TIME)
        return rows[~(rows["cost_high"] >= rows["cost_high"].cummin().shift())]

    def of_type(self, machine_type: str | None) -> pd.DataFrame:
        """Return the configurations of a machine type; all of them where it is not known."""
        every = self.configurations
        return every if machine_type is None else every[every["machine_type"] == machine_type]

    @property
    def choice(self) -> Choice | None:
        """What is chosen; None when neither a deadline nor a budget is given."""
        deadline, budget = self.deadline, self.budget
        if deadline is None and budget is None:
            return None
        every = self.sound
        in_time = every[every["high"] <= (math.inf if deadline is None else deadline)]
        in_budget = every[every["cost_high"] <= (math.inf if budget is None else budget)]
        parts = [] if deadline is None else [f"done in {readable_seconds(deadline)}"]
        parts += [] if budget is None else [f"within {budget:.4g} USD"]
        condition = f"{' and '.join(parts)} with {100 * self.confidence:.4g}% confidence"
        both = in_time[in_time.index.isin(in_budget.index)]
        best = next(rows for rows in (both, in_time, every) if len(rows))
        by_cost = deadline is not None and np.isfinite(best["cost"]).any()
        wanted = "cheapest" if by_cost else "fastest"
        if len(both):
            return Choice(wanted, condition, _first(both, _BY_COST if by_cost else _BY_TIME), {})
        nearest = {}
        if deadline is not None and len(in_time):
            nearest[f"{wanted} in time"] = _first(in_time, _BY_COST)
        elif deadline is not None:
            nearest["fastest of all"] = _first(every, _BY_TIME)
        if budget is not None and len(in_budget):
            nearest["fastest within the budget"] = _first(in_budget, _BY_TIME)
        elif budget is not None:
            nearest["cheapest of all"] = _first(every, _BY_COST)
        return Choice(wanted, condition, None, nearest)

    @property
    def chosen(self) -> Any:
        """The configuration that is chosen, if there is one."""
        choice = self.choice
        return None if choice is None else choice.configuration

    @property
    def fastest(self) -> Any:
        """The fastest configuration."""
        return next(self.frontier.itertuples())

    @property
    def submit(self) -> str | None:
        """Options of spark-submit for the choice, the fastest without one, where they are known."""
        one = self.fastest if self.choice is None else self.chosen
        if one is None or self.scale is None:
            return None
        model = next(each for each in self.models if each.machine_type == one.machine_type)
        return None if model.submit is None else str(model.submit(one.machines))

    @property
    def answer(self) -> Answer:
        """The choice, or what there is to choose from."""
        frontier, chosen = self.frontier, self.chosen
        rows = self.configurations if self.scale is None else _thinned(frontier, chosen)
        shown: list[Any] = list(rows.itertuples())
        found: dict[str, list[str]] = {
            self.unit: [one.name + (" *" if one == chosen else "") for one in shown],
            "time": [readable_seconds(one.seconds) for one in shown],
            "at most": [readable_seconds(one.high) for one in shown],
            self.cost_unit: [_amount(one.cost) for one in shown],
            f"{self.cost_unit} at most": [_amount(one.cost_high) for one in shown],
            f"{self.unit} in range": ["yes" if one.in_measured_range else "no" for one in shown],
        }
        found = {name: cells for name, cells in found.items() if any(cells)}
        said = f"{len(frontier)} of {len(self.configurations)} configurations"
        if len(frontier) < len(self.configurations):
            said += ": no other is both faster and cheaper"
        if len(shown) < len(frontier):
            said += f"; {len(shown)} of them here, --json has all"
        facts = [("shown", said)] if self.scale is not None else []
        if self.scale is not None and (scale := self.models[0].measurements.columns.get("scale")):
            facts.insert(0, (scale, readable_number(self.scale)))
        if self.spare:
            time = readable_seconds(self.spare_test)
            facts.append(("to choose from", f"{self.spare} spare machines for {time} are included"))
        if submit := self.submit:
            which = "" if self.choice else " (fastest)"
            facts.append((f"spark-submit{which}", submit))
        runs = f"{100 * self.confidence:.4g}% of runs"
        what = "assignments, " if self.scale is None else ""
        title = f"{what}by the time that {runs} take at most"
        table = Table(title, list(found), list(zip(*found.values(), strict=True)))
        badge = ("meets the request", "good") if chosen else ("nothing meets the request", "bad")
        given = (self._sentence(), facts, [table], self.warnings)
        return Answer(*given, badge=None if self.choice is None else badge)

    def _sentence(self) -> str:
        choice = self.choice
        if choice is None:
            fast, *_, cheap = [self.fastest, *self.frontier.itertuples()]
            if fast == cheap:
                both = "fastest" if fast.cost == math.inf else "fastest and cheapest"
                return f"the {both}: {self.described(fast)}"
            return (
                f"the fastest: {self.described(fast)}; the cheapest: {self.described(cheap)}; "
                "--deadline or --budget chooses"
            )
        if choice.configuration is None:
            return f"no configuration is {choice.condition}"
        return f"{choice.wanted} {choice.condition}: {self.described(choice.configuration)}"

    def described(self, one: Any) -> str:
        """Return a configuration in words, with its time and cost."""
        what = one.name if one.machine_type else counted(one.machines, self.unit)
        said = f"{what}, {readable_seconds(one.seconds)} (at most {readable_seconds(one.high)})"
        if one.cost == math.inf:
            return said
        cost, most = (
            f"{amount:{'.2f' if amount >= 1 else '.3g'}}" for amount in (one.cost, one.cost_high)
        )
        return f"{said}, {cost} {self.cost_unit} (at most {most})"

    @property
    def title(self) -> str:
        """What the plan is for."""
        return f"plan for {', '.join(dict.fromkeys(model.source for model in self.models))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan, ready for JSON."""
        choice, chosen = self.choice, self.chosen
        nearest = {} if choice is None else choice.nearest
        names = ("scale", "confidence", "spare", "iterations", "unit", "cost_unit")
        return {
            "schema": 2,
            "verdict": {"sentence": self.answer.sentence},
            **{name: getattr(self, name) for name in names},
            "deadline_seconds": self.deadline,
            "budget_usd": self.budget,
            "spare_test_seconds": self.spare_test,
            "goal": None if choice is None else f"{choice.wanted} {choice.condition}",
            "choice": None if chosen is None else _record(chosen),
            "spark_submit": self.submit,
            "nearest": {what: _record(one) for what, one in nearest.items()},
            "frontier": list(map(_record, self.frontier.itertuples())),
            "configurations": list(map(_record, self.configurations.itertuples())),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return all configurations, and which are on the frontier and chosen."""
        every, chosen = self.configurations, self.chosen
        return pd.json_normalize(list(map(_record, every.itertuples()))).assign(
            frontier=every.index.isin(self.frontier.index),
            chosen=every.index == (None if chosen is None else chosen.Index),
        )

    def pictures(self) -> list[Picture]:
        """Return time against machines, or of each assignment, and cost against time."""
        percent, said = f"{100 * self.confidence:.4g}%", self.answer.sentence
        every, frontier, one = self.configurations, self.frontier, self.chosen
        if self.scale is None:
            found = [self._times(f"Time of the assignments: {said}.", percent)]
        else:
            text = f"Time against {self.unit}, a line for each machine type with its band. {said}."
            draw = partial(
                draw_lines,
                lines=[self._line(model) for model in self.models],
                xlabel=f"{self.unit} (band: {percent} at either end)",
                ylabel="time",
                limits={} if self.deadline is None else {"deadline": self.deadline},
                chosen=None if one is None else (one.machines, one.high, f"choice: {one.name}"),
            )
            found = [Picture(f"Time against {self.unit}", text, draw)]
        every, frontier = (rows[np.isfinite(rows["cost_high"])] for rows in (every, frontier))
        if frontier.empty:
            return found
        labels = every["machine_type"].fillna("predicted")
        if self.scale is None:
            labels = pd.Series("assignments", every.index)
        ends: list[Any] = list(frontier.iloc[[0, -1]].drop_duplicates("name").itertuples())
        most = 1.5 * every["cost_high"].max()
        shown = self.budget is not None and self.budget <= most  # else it flattens all
        draw = partial(
            costs,
            groups={
                str(label): (rows["high"], rows["cost_high"], rows["name"].tolist())
                for label, rows in every.groupby(labels, sort=False)
            },
            frontier=(frontier["high"], frontier["cost_high"]),
            xlabel=f"time with {percent} confidence",
            ylabel=f"{self.cost_unit} with {percent} confidence",
            limits=(self.deadline, self.budget if shown else None),
            chosen=(one.high, one.cost_high, one.name) if one and one.cost < math.inf else None,
            named=[(each.high, each.cost_high, each.name) for each in ends if each != one],
        )
        text = (
            f"Cost against time, {percent} sure not to be passed; the line joins the "
            f"configurations that none beats in both. {said}."
        )
        return [*found, Picture("Cost against time", text, draw)]

    def _times(self, text: str, percent: str) -> Picture:
        """Return the picture of what each assignment takes."""
        every, one = self.configurations, self.chosen
        divisor, unit = unit_of(every["seconds"])
        return dot_picture(
            "Time of the assignments",
            text,
            every["name"].tolist(),
            *every[["seconds", "low", "high"]].to_numpy().T / divisor,
            xlabel=f"time, {unit} (line: {percent} at either end)",
            color="predicted",
            others={} if one is None else {one.name: "ink"},
        )

    def _line(self, model: Any) -> Line:
        """Return the times of a machine type, and what was measured at this scale, if alike."""
        rows = self.of_type(model.machine_type)
        measured = None
        if self.unit == model.unit and self.iterations is None and not self.spare:
            here = model.measured[model.measured["scale"] == self.scale].dropna(subset="seconds")
            measured = here["machines"].to_numpy(), here["seconds"].to_numpy()
        x, middle, low, high = rows[["machines", "seconds", "low", "high"]].to_numpy().T
        return Line(model.machine_type or "predicted", x, middle, low, high, measured)


def _first(table: pd.DataFrame, by: list[str]) -> Any:
    """Return the first row by some columns."""
    return next(table.sort_values(by).itertuples())


def _record(one: Any) -> dict[str, Any]:
    """Return a row of the configurations, ready for JSON."""
    return {name: value for name, value in one._asdict().items() if name not in ("Index", "name")}


def _thinned(frontier: pd.DataFrame, chosen: Any, most: int = 20) -> pd.DataFrame:
    """Return so many configurations that a screen holds them, the chosen one among them."""
    step = max(-(-len(frontier) // most), 1)
    ends = [frontier.index[-1], *([] if chosen is None else [chosen.Index])]
    kept = np.arange(len(frontier)) % step == 0
    return pd.DataFrame(frontier[kept | frontier.index.isin(ends)])


def _amount(cost: float) -> str:
    """Return a cost; nothing where there is no price."""
    return f"{cost:.4g}" if cost < math.inf else ""
