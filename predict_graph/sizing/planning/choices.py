"""Which machines, how many: by a deadline, within a budget, at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.answers import Answer
from predict_graph.durations import readable_number, readable_seconds
from predict_graph.errors import JobError, RequestError, unknown_name
from predict_graph.pictures import Picture
from predict_graph.results import Result
from predict_graph.sizing.fitting.model import JobModel
from predict_graph.sizing.planning.candidates import MachineType, example_prices, read_prices
from predict_graph.sizing.planning.predicted import read_job_model
from predict_graph.sizing.quantities import MOST_MACHINES, parse_counts, parse_duration, parse_money

ModelLike = JobModel | str | PathLike[str]

SECONDS_PER_HOUR = 3600.0  # by definition
LEAST_CHANCE = 0.5  # by definition: more likely than not


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
        At the predicted time and at `high`: USD, or machine-hours (core-hours) without prices.
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
    scale : float
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
        What is counted: ``"machines"`` or ``"cores"``.
    configurations : tuple of Configuration
        By type and count.
    frontier : tuple of Configuration
        Those that none beats in both time and cost, by growing time.
    choice : Choice or None
        None when neither a deadline nor a budget is given.
    warnings : tuple of str
    models : tuple of JobModel
    """

    scale: float
    confidence: float
    deadline: float | None
    budget: float | None
    spare: int
    spare_test: float
    iterations: int | None
    cost_unit: str
    unit: str
    configurations: tuple[Configuration, ...]
    frontier: tuple[Configuration, ...]
    choice: Choice | None
    warnings: tuple[str, ...]
    models: tuple[JobModel, ...]

    @property
    def answer(self) -> Answer:
        """The choice, or what there is to choose from."""
        from predict_graph.sizing.report import answer_of_plan

        return answer_of_plan(self)

    @property
    def title(self) -> str:
        """What the plan is for."""
        return f"plan for {', '.join(dict.fromkeys(model.source for model in self.models))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan, ready for JSON."""
        from predict_graph.sizing.report import plan_summary

        return plan_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return all configurations, and which are on the frontier and chosen."""
        chosen = None if self.choice is None else self.choice.configuration
        return pd.DataFrame([vars(one) for one in self.configurations]).assign(
            frontier=[one in self.frontier for one in self.configurations],
            chosen=[one == chosen for one in self.configurations],
        )

    def pictures(self) -> list[Picture]:
        """Return time against machines, and cost against time."""
        from predict_graph.sizing.picture import pictures_of_plan

        return pictures_of_plan(self)


def plan(
    models: ModelLike | Sequence[ModelLike],
    machines: int | str | Iterable[int],
    *,
    scale: float | None = None,
    deadline: float | str | None = None,
    budget: float | str | None = None,
    prices: Mapping[str, MachineType] | str | PathLike[str] | None = None,
    confidence: float = 0.9,
    spare: int = 0,
    spare_test: float | str = 60.0,
    iterations: int | None = None,
) -> Plan:
    """Choose machines for a job.

    Every decision is made on the time and the cost that hold with the given confidence, not on the
    predicted ones: the margin for errors of section 6.3 of the Ernest paper.

    Parameters
    ----------
    models : JobModel or path, or sequence of them
        One for each machine type, or one that knows several. A path is that of a saved model or of
        a prediction on a cluster; ``TYPE=PATH`` says its machine type.
    machines : int, sequence of int or str
        Counts to consider; as text ``2:64``, ``2:64:2`` or ``2,4,8``.
    scale : float, optional
        Needed unless it was the same in all measured runs.
    deadline : float or str, optional
        Seconds, or a text such as ``10m``. The cheapest configuration that meets it is chosen.
    budget : float or str, optional
        USD. Without a deadline the fastest configuration within it is chosen; with one the choice
        must keep both.
    prices : mapping of str to MachineType, or path, optional
        A table with ``type``, ``cores`` and ``usd_per_hour``; ``example`` is that of the package.
        Needed for several types, and for a budget, unless the model knows the prices of its types.
    confidence : float, default 0.9
        Probability with which a single run keeps deadline and budget; in [0.5, 1).
    spare : int, default 0
        Extra machines to launch; the slowest are released before the job starts (section 4.3). The
        gain is not predicted.
    spare_test : float or str, default 60
        Seconds, or a text such as ``1m``, that all machines are held to find the slowest ones;
        counted when `spare` is not 0.
    iterations : int, optional
        Of the real run, when the models were fitted to runs of fewer.

    Returns
    -------
    Plan

    Raises
    ------
    RequestError
        If an option is wrong, a price is missing, or a type comes twice.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, sections 4.3, 6.3 and 6.4.
    """
    given = [models] if isinstance(models, JobModel | str | PathLike) else models
    loaded = [_read(one) for one in given]
    counts = _counts(machines)
    deadline = parse_duration(deadline, "deadline") if isinstance(deadline, str) else deadline
    budget = parse_money(budget) if isinstance(budget, str) else budget
    if isinstance(spare_test, str):
        spare_test = parse_duration(spare_test, "spare test")
    if isinstance(prices, str | PathLike):
        named = str(prices) == "example" and not Path(prices).exists()
        prices = read_prices(example_prices() if named else Path(prices))
    elif prices is None:
        prices = _own_prices(loaded)
    kinds = [one for model in loaded for one in model.by_type()]
    _check(kinds, counts, spare=spare, prices=prices, budget=budget)
    scale = _checked_scale(kinds, scale)
    unit = "machines" if prices is not None else kinds[0].unit
    test = spare_test if spare else 0.0
    configurations: list[Configuration] = []
    for model in kinds:
        price = None if prices is None else _price_of(prices, model.machine_type)
        factor = _iteration_factor(model, iterations)
        configurations += _configurations(
            model, counts, scale, price, confidence, factor, spare, test
        )
    found = tuple(configurations)
    sound = tuple(one for one in found if one.chance >= LEAST_CHANCE)
    if not sound:
        raise JobError(
            f"runs like all {len(found)} configurations failed; accepted: other --machines, or "
            "more measured runs"
        )
    choice = _choose(sound, deadline, budget, confidence)
    return Plan(
        scale=scale,
        confidence=confidence,
        deadline=deadline,
        budget=budget,
        spare=spare,
        spare_test=test,
        iterations=iterations,
        cost_unit="USD" if prices is not None else f"{unit.removesuffix('s')}-hours",
        unit=unit,
        configurations=found,
        frontier=frontier(sound),
        choice=choice,
        warnings=(
            *dict.fromkeys(_model_warnings(kinds, scale, iterations)),
            *_range_warnings(kinds, found, choice, unit),
            *_failure_warnings(found, confidence, choice),
        ),
        models=tuple(kinds),
    )


def _read(model: ModelLike) -> JobModel:
    if isinstance(model, JobModel):
        return model
    if isinstance(model, str | PathLike):
        return read_job_model(str(model))
    raise RequestError(
        f"a model is of type {type(model).__name__}; accepted: a JobModel, or the path of one"
    )


def _counts(machines: int | str | Iterable[int]) -> list[int]:
    if isinstance(machines, str):
        return parse_counts(machines)
    return [machines] if isinstance(machines, int) else [int(count) for count in machines]


def _own_prices(models: Sequence[JobModel]) -> dict[str, MachineType] | None:
    """Return the prices that models know of their types, if they know all."""
    kinds = {kind.name: kind for model in models for kind in model.types.values()}
    known = all(model.types for model in models)
    return kinds if known and all(kind.price is not None for kind in kinds.values()) else None


def frontier(configurations: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Return the configurations that none beats in time and cost, by growing time.

    Compared are the time and the cost that hold with the confidence of the plan.
    """
    best: list[Configuration] = []
    for one in sorted(configurations, key=lambda c: (c.high, c.cost_high, c.machines)):
        if not best or one.cost_high < best[-1].cost_high:
            best.append(one)
    return tuple(best)


def _check(
    models: Sequence[JobModel],
    machines: Sequence[int],
    *,
    spare: int,
    prices: Mapping[str, MachineType] | None,
    budget: float | None,
) -> None:
    if not models or not machines:
        raise RequestError("a plan needs at least one model and one machine count")
    if not 0 <= spare <= MOST_MACHINES:
        raise RequestError(f"spare is {spare}; accepted: from 0 to {MOST_MACHINES:,}")
    kinds = [model.machine_type for model in models]
    if len(set(kinds)) < len(kinds):
        twice = next(kind for kind in kinds if kinds.count(kind) > 1)
        raise RequestError(
            f"two models are of the machine type {twice!r}; accepted: one each, as TYPE=MODEL.json"
        )
    if prices is None and (len(models) > 1 or budget is not None):
        why = "a budget needs" if len(models) == 1 else "machines of several types need"
        raise RequestError(
            f"{why} prices; accepted: --prices FILE with the columns type, cores, usd_per_hour"
        )


def _checked_scale(models: Sequence[JobModel], scale: float | None) -> float:
    if scale is not None:
        if not (scale > 0 and np.isfinite(scale)):
            raise RequestError(f"the scale is {scale:g}; accepted: a number above 0")
        for model in models:
            if "scale" not in model.columns:
                raise RequestError(
                    f"the runs of {model.source} had no scale, so what another one takes is not "
                    "known; accepted: no --scale, or a model of runs with a column for the scale"
                )
        return scale
    low, high = _scales(models)
    if low < high:
        raise RequestError(
            f"the job was measured at scales from {readable_number(low)} to "
            f"{readable_number(high)}; say for which scale the plan is with --scale S"
        )
    return low


def _iteration_factor(model: JobModel, iterations: int | None) -> float:
    if iterations is None:
        return 1.0
    if iterations < 1:
        raise RequestError(f"iterations are {iterations}; accepted: 1 or more")
    if model.iterations is None:
        raise RequestError(
            f"the model of {model.source} does not say how many iterations a measured run did; "
            "accepted: a model of fit --iterations N"
        )
    return iterations / model.iterations


def _price_of(prices: Mapping[str, MachineType], machine_type: str | None) -> MachineType:
    if machine_type is None:
        raise RequestError(
            "the model does not say which machines it was measured on; "
            f"accepted: TYPE=MODEL.json with one of: {', '.join(prices)}"
        )
    if machine_type not in prices:
        raise unknown_name("machine type", machine_type, prices)
    return prices[machine_type]


def _configurations(
    model: JobModel,
    machines: Sequence[int],
    scale: float,
    price: MachineType | None,
    confidence: float,
    factor: float,
    spare: int,
    test: float,
) -> list[Configuration]:
    counts = np.array(machines, dtype=np.float64)
    seen = counts * price.cores if price is not None and model.unit == "cores" else counts
    middle = model.seconds(scale, seen) * factor
    low, high = (end * factor for end in model.bounds(scale, seen, confidence))
    rate = (1.0 if price is None or price.price is None else price.price) / SECONDS_PER_HOUR
    testing = (counts + spare) * test
    known = model.measured["machines"]  # nothing, of a type that other types stand for
    columns = (
        counts.astype(int),
        middle + test,
        low + test,
        high + test,
        rate * (counts * middle + testing),
        rate * (counts * high + testing),
        (seen >= known.min()) & (seen <= known.max()),
        model.success(scale, seen),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Configuration(model.machine_type, *row) for row in rows]


def _choose(
    configurations: Sequence[Configuration],
    deadline: float | None,
    budget: float | None,
    confidence: float,
) -> Choice | None:
    if deadline is None and budget is None:
        return None
    in_time = [c for c in configurations if deadline is None or c.high <= deadline]
    in_budget = [c for c in configurations if budget is None or c.cost_high <= budget]
    parts = [] if deadline is None else [f"done in {readable_seconds(deadline)}"]
    parts += [] if budget is None else [f"within {budget:.4g} USD"]
    condition = f"{' and '.join(parts)} with {100 * confidence:.4g}% confidence"
    wanted = "fastest" if deadline is None else "cheapest"
    if both := [c for c in in_time if c in in_budget]:
        best = min(both, key=_by_time if deadline is None else _by_cost)
        return Choice(wanted, condition, best, {})
    nearest = {}
    if deadline is not None and in_time:
        nearest["cheapest in time"] = min(in_time, key=_by_cost)
    elif deadline is not None:
        nearest["fastest of all"] = min(configurations, key=_by_time)
    if budget is not None and in_budget:
        nearest["fastest within the budget"] = min(in_budget, key=_by_time)
    elif budget is not None:
        nearest["cheapest of all"] = min(configurations, key=_by_cost)
    return Choice(wanted, condition, None, nearest)


def _by_time(one: Configuration) -> tuple[float, float, int]:
    return one.high, one.cost_high, one.machines


def _by_cost(one: Configuration) -> tuple[float, float, int]:
    return one.cost_high, one.high, one.machines


def _model_warnings(
    models: Sequence[JobModel], scale: float, iterations: int | None
) -> Iterator[str]:
    """Give sentences on the models; one of several types gives each once for each of them."""
    for model in models:
        plain = model.machine_type is None or model.types
        yield from (text if plain else f"{model.machine_type}: {text}" for text in model.warnings)
    low, high = _scales(models)
    if not low <= scale <= high:
        yield (
            f"the scale {readable_number(scale)} is outside what was measured "
            f"({readable_number(low)} to {readable_number(high)}); {_widening(models)}"
        )
    cut = next((model.iterations for model in models if model.iterations is not None), None)
    if cut is not None and iterations is None:
        yield f"times are for {cut} iterations, as measured"


def _scales(models: Sequence[JobModel]) -> tuple[float, float]:
    scales = pd.concat([model.measured["scale"] for model in models])
    return float(scales.min()), float(scales.max())


def _range_warnings(
    models: Sequence[JobModel],
    configurations: Sequence[Configuration],
    choice: Choice | None,
    unit: str,
) -> Iterator[str]:
    """Give sentences on configurations outside the measured range: the chosen one, or all."""
    chosen = None if choice is None else choice.configuration
    for model in models:
        mine = [one for one in configurations if one.machine_type == model.machine_type]
        far = [one for one in mine if not one.measured and chosen in (None, one)]
        known = model.measured["machines"]
        if far and known.empty:
            yield f"no run on {model.machine_type} was measured; others stand for it"
        elif far:
            kind = "" if model.machine_type is None else f" of {model.machine_type}"
            subject = f"{len(far)} of the {len(mine)} counts of {unit}{kind}"
            yield (
                f"{subject if chosen is None else f'{chosen.machines} {unit}'} are outside what "
                f"was measured ({known.min():g} to {known.max():g} {model.unit}); "
                f"{_widening([model])}"
            )


def _failure_warnings(
    configurations: Sequence[Configuration], confidence: float, choice: Choice | None
) -> Iterator[str]:
    """Give sentences on configurations that may fail."""
    left = sum(one.chance < LEAST_CHANCE for one in configurations)
    if left:
        yield f"{left} of {len(configurations)} configurations are left out: runs like them failed"
    one = None if choice is None else choice.configuration
    if one is not None and one.chance < confidence:
        yield (
            f"runs near {one.name} failed; by those it succeeds with a probability of "
            f"{one.chance:.0%}"
        )


def _widening(models: Sequence[JobModel]) -> str:
    if all(model.name == "auto" for model in models):
        return "intervals are wider for it"
    return "intervals do not widen with the distance"
