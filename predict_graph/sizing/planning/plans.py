"""Plans: configurations of a job or of tasks, the best of them, and the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from predict_graph.answers import Answer, Table
from predict_graph.durations import counted, readable_number, readable_seconds
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.sizing.picture import pictures_of_plan

if TYPE_CHECKING:
    from predict_graph.sizing.tasks.assignments import Assignment


@dataclass(frozen=True)
class Configuration:
    """One way to run the job.

    Attributes
    ----------
    machine_type : str or None
    machines : int
        That the job runs on, without the spare ones.
    seconds, low, high : float
        Predicted time, and what a run takes at least and at most, each with the confidence of the
        plan. Testing spare machines is part of all three.
    cost, cost_high : float
        At the predicted time and at `high`: USD, or machine-hours (core-hours) without prices;
        infinite for an assignment without a price.
    measured : bool
        Whether the machine count is within those that the model was fitted to.
    chance : float
        That a run succeeds, estimated from failed runs. One that is less likely to succeed than
        not is not chosen.
    """

    machine_type: str | None
    machines: int
    seconds: float
    low: float
    high: float
    cost: float
    cost_high: float
    measured: bool
    chance: float = 1.0

    @property
    def name(self) -> str:
        """Count and type."""
        return f"{self.machines} × {self.machine_type}" if self.machine_type else f"{self.machines}"


@dataclass(frozen=True, kw_only=True)
class Placement(Configuration):
    """An assignment of resources to a task, or to a chain of tasks; `machine_type` is its name.

    Attributes
    ----------
    assignment : Assignment
    task_seconds : tuple of float
        Of each task of the chain.
    """

    assignment: Assignment
    task_seconds: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name of the assignment."""
        return str(self.machine_type)


@dataclass(frozen=True)
class Choice:
    """What was asked for, and the configuration that does it.

    Attributes
    ----------
    wanted : str
        ``"cheapest"`` or ``"fastest"``.
    condition : str
        What it must keep, in words: ``"done in 10 min with 90% confidence"``.
    configuration : Configuration or None
        None when no configuration does it.
    nearest : dict of str to Configuration
        When none does: what can be had instead, by what it is.
    """

    wanted: str
    condition: str
    configuration: Configuration | None
    nearest: Mapping[str, Configuration]


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
        ``"USD"``, ``"machine-hours"`` or ``"core-hours"``.
    unit : str
        What is counted: ``"machines"`` or ``"cores"``; ``"assignment"`` for tasks.
    models : tuple of JobModel, or of TaskModel
    configurations : tuple of Configuration
        By type and count; of tasks by growing time.
    warnings : tuple of str
    """

    confidence: float
    deadline: float | None
    budget: float | None
    cost_unit: str
    unit: str
    models: tuple[Any, ...]
    configurations: tuple[Configuration, ...] = ()
    scale: float | None = None
    spare: int = 0
    spare_test: float = 0.0
    iterations: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def sound(self) -> list[Configuration]:
        """Configurations that are more likely to succeed than not."""
        return [one for one in self.configurations if one.chance >= 0.5]

    @property
    def frontier(self) -> tuple[Configuration, ...]:
        """Configurations that none beats in both time and cost, by growing time.

        Compared are the time and the cost that hold with the confidence of the plan.
        """
        best: list[Configuration] = []
        for one in sorted(self.sound, key=_by_time):
            if not best or one.cost_high < best[-1].cost_high:
                best.append(one)
        return tuple(best)

    @property
    def choice(self) -> Choice | None:
        """What is chosen; None when neither a deadline nor a budget is given."""
        deadline, budget = self.deadline, self.budget
        if deadline is None and budget is None:
            return None
        every = self.sound
        in_time = [c for c in every if deadline is None or c.high <= deadline]
        in_budget = [c for c in every if budget is None or c.cost_high <= budget]
        parts = [] if deadline is None else [f"done in {readable_seconds(deadline)}"]
        parts += [] if budget is None else [f"within {budget:.4g} USD"]
        condition = f"{' and '.join(parts)} with {100 * self.confidence:.4g}% confidence"
        by_cost = deadline is not None and any(np.isfinite(c.cost) for c in every)
        wanted = "cheapest" if by_cost else "fastest"
        if both := [c for c in in_time if c in in_budget]:
            return Choice(wanted, condition, min(both, key=_by_cost if by_cost else _by_time), {})
        nearest = {}
        if deadline is not None and in_time:
            nearest["cheapest in time"] = min(in_time, key=_by_cost)
        elif deadline is not None:
            nearest["fastest of all"] = min(every, key=_by_time)
        if budget is not None and in_budget:
            nearest["fastest within the budget"] = min(in_budget, key=_by_time)
        elif budget is not None:
            nearest["cheapest of all"] = min(every, key=_by_cost)
        return Choice(wanted, condition, None, nearest)

    @property
    def chosen(self) -> Configuration | None:
        """The configuration that is chosen, if there is one."""
        choice = self.choice
        return None if choice is None else choice.configuration

    @property
    def submit(self) -> str | None:
        """Options of spark-submit for the choice, the fastest without one, where they are known."""
        one = self.frontier[0] if self.choice is None else self.chosen
        if one is None or self.scale is None:
            return None
        model = next(each for each in self.models if each.machine_type == one.machine_type)
        return None if model.submit is None else str(model.submit(one.machines))

    @property
    def answer(self) -> Answer:
        """The choice, or what there is to choose from."""
        frontier, chosen = self.frontier, self.chosen
        shown = self.configurations if self.scale is None else _thinned(frontier, chosen)
        found: dict[str, list[str]] = {
            self.unit: [one.name + (" *" if one == chosen else "") for one in shown],
            "time": [readable_seconds(one.seconds) for one in shown],
            "at most": [readable_seconds(one.high) for one in shown],
            self.cost_unit: [_amount(one.cost) for one in shown],
            f"{self.cost_unit} at most": [_amount(one.cost_high) for one in shown],
            "machines measured": ["yes" if one.measured else "no" for one in shown],
        }
        found = {name: cells for name, cells in found.items() if any(cells)}
        said = f"{len(frontier)} of {len(self.configurations)} configurations are on the frontier"
        if len(shown) < len(frontier):
            said += f"; {len(shown)} are shown, --json has all"
        facts = [("considered", said)]
        if self.scale is not None and (scale := self.models[0].measurements.columns.get("scale")):
            facts.insert(0, (scale, readable_number(self.scale)))
        if self.spare:
            time = readable_seconds(self.spare_test)
            facts.append(("to choose from", f"{self.spare} spare machines for {time} are included"))
        if submit := self.submit:
            facts.append(("spark-submit", submit))
        what = "assignments, fastest first" if self.scale is None else "frontier of time and cost"
        title = f"{what}; at most: {100 * self.confidence:.4g}% of runs"
        table = Table(title, list(found), list(zip(*found.values(), strict=True)))
        badge = ("meets the request", "good") if chosen else ("nothing meets the request", "bad")
        given = (self._sentence(), facts, [table], self.warnings)
        return Answer(*given, badge=None if self.choice is None else badge)

    def _sentence(self) -> str:
        choice = self.choice
        if choice is None:
            fast, cheap = self.frontier[0], self.frontier[-1]
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

    def described(self, one: Configuration) -> str:
        """Return a configuration in words, with its time and cost."""
        what = one.name if one.machine_type else counted(one.machines, self.unit)
        said = f"{what}, {readable_seconds(one.seconds)} (at most {readable_seconds(one.high)})"
        if one.cost == math.inf:
            return said
        cost, most = (
            f"{amount:{'.2f' if amount >= 1 else '.3g'}} {self.cost_unit}"
            for amount in (one.cost, one.cost_high)
        )
        return f"{said}, {cost} (at most {most})"

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
            "schema": 1,
            "verdict": {"sentence": self.answer.sentence},
            **{name: getattr(self, name) for name in names},
            "deadline_seconds": self.deadline,
            "budget_usd": self.budget,
            "spare_test_seconds": self.spare_test,
            "goal": None if choice is None else f"{choice.wanted} {choice.condition}",
            "choice": None if chosen is None else asdict(chosen),
            "spark_submit": self.submit,
            "nearest": {what: asdict(one) for what, one in nearest.items()},
            "frontier": [asdict(one) for one in self.frontier],
            "configurations": [asdict(one) for one in self.configurations],
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return all configurations, and which are on the frontier and chosen."""
        best, chosen = self.frontier, self.chosen
        return pd.json_normalize([asdict(one) for one in self.configurations]).assign(
            frontier=[one in best for one in self.configurations],
            chosen=[one == chosen for one in self.configurations],
        )

    def pictures(self) -> list[Picture]:
        """Return time against machines, and cost against time."""
        return pictures_of_plan(self)


def _by_time(one: Configuration) -> tuple[float, float, int]:
    return one.high, one.cost_high, one.machines


def _by_cost(one: Configuration) -> tuple[float, float, int]:
    return one.cost_high, one.high, one.machines


def _thinned(
    frontier: Sequence[Configuration], chosen: Configuration | None, most: int = 20
) -> Sequence[Configuration]:
    """Return so many configurations that a screen holds them, the chosen one among them."""
    step = max(-(-len(frontier) // most), 1)
    ends = (frontier[-1], chosen)
    return [one for n, one in enumerate(frontier) if n % step == 0 or one in ends]


def _amount(cost: float) -> str:
    """Return a cost; nothing where there is no price."""
    return f"{cost:.4g}" if cost < math.inf else ""
