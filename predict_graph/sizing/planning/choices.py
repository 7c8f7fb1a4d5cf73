"""Which machines, how many: by a deadline, within a budget, at what cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np
import pandas as pd

from predict_graph.durations import counted, parse_duration, readable_number, singular
from predict_graph.errors import JobError, RequestError, unknown_name
from predict_graph.sizing.fitting.model import JobModel, predicted
from predict_graph.sizing.measuring.measurements import chosen_scale
from predict_graph.sizing.planning.candidates import PRICE_NAMES, MachineType, read_types
from predict_graph.sizing.planning.plans import Plan
from predict_graph.sizing.planning.predicted import ModelLike, read_job_model
from predict_graph.sizing.quantities import check_count, parse_conditions, parse_counts


def plan(
    models: ModelLike | Sequence[ModelLike],
    machines: int | str | Iterable[int],
    *,
    scale: float | None = None,
    deadline: float | str | None = None,
    budget: float | str | None = None,
    prices: Mapping[str, MachineType] | str | PathLike[str] | None = None,
    confidence: float | str = 0.9,
    spare: int = 0,
    spare_test: float | str | None = None,
    iterations: int | None = None,
    executor_cores: int | None = None,
) -> Plan:
    """Choose machines for a job.

    Every decision is made on the time and the cost that hold with the given confidence, not on the
    predicted ones: the margin for errors of section 6.3 of the Ernest paper.

    Parameters
    ----------
    models : JobModel or path, or sequence of them
        One for each machine type, or one that knows several. A path is that of a saved model, of
        a prediction on a cluster, or of an event log of Spark; ``TYPE=PATH`` says its machine type.
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
        As of :func:`read_types`; ``example`` is a table of the package.
        Needed for several types, and for a budget, unless the model knows the prices of its types;
        of a type without one only the time is compared.
    confidence : float or str, default 0.9
        Probability with which a single run keeps deadline and budget; in [0.5, 1).
    spare : int, default 0
        Extra machines to launch; the slowest are released before the job starts (section 4.3). The
        gain is not predicted.
    spare_test : float or str, optional
        Seconds, or a text such as ``1m``, that all machines are held to find the slowest ones; a
        minute by default.
    iterations : int, optional
        Of the real run, when the models were fitted to runs of fewer.
    executor_cores : int, optional
        Of an executor, for an event log; those of the log by default.

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
    given = [models] if isinstance(models, str) or not isinstance(models, Iterable) else models
    if not isinstance(machines, str):
        listed = machines if isinstance(machines, Iterable) else [machines]
        machines = ",".join(str(count).removesuffix(".0") for count in listed)
    counts = parse_counts(machines)
    deadline, budget, confidence = parse_conditions(deadline, budget, confidence)
    spare = check_count("spare is", spare, 0)
    if iterations is not None:
        iterations = check_count("iterations are", iterations)
    if spare_test is not None and not spare:
        raise RequestError("a spare test is for spare machines; accepted: with --spare N")
    testing = "1m" if spare_test is None else str(spare_test)
    if isinstance(prices, str | PathLike):
        prices = read_types(prices)
    loaded = [read_job_model(one, executor_cores, prices) for one in given]
    if prices is None and all(model.types for model in loaded):
        own = {kind.name: kind for model in loaded for kind in model.types.values()}
        prices = own if any(kind.price is not None for kind in own.values()) else None
    kinds = [one for model in loaded for one in model.by_type()]
    if not kinds:
        raise RequestError("a plan needs at least one model")
    for name, several in Counter(model.machine_type for model in kinds).items():
        if several > 1:
            raise RequestError(
                f"two models are of the machine type {name!r}; accepted: one each, as "
                "TYPE=MODEL.json"
            )
    if prices is None and (len(kinds) > 1 or budget is not None):
        why = "a budget needs" if len(kinds) == 1 else "machines of several types need"
        raise RequestError(
            f"{why} prices; accepted: --prices FILE with the columns machine_type, cores, "
            "price_per_hour"
        )
    unit = kinds[0].unit if prices is None or kinds[0].unit != "cores" else "machines"
    made = Plan(
        scale=chosen_scale([model.measurements for model in kinds], scale),
        confidence=confidence,
        deadline=deadline,
        budget=budget,
        spare=spare,
        spare_test=parse_duration(testing, "spare test") if spare else 0.0,
        iterations=iterations,
        cost_unit="USD" if prices is not None else f"{singular(unit)}-hours",
        unit=unit,
        models=tuple(kinds),
    )
    found = [_configurations(model, counts, prices, made) for model in kinds]
    made = replace(made, configurations=pd.concat(found, ignore_index=True))
    if np.isinf(made.configurations["cost"]).all():
        raise RequestError(f"{kinds[0].machine_type} has no price; accepted: {PRICE_NAMES[0]}")
    if made.sound.empty:
        likeliest = made.configurations.nlargest(1, "chance").iloc[0]
        raise JobError(
            f"runs like all {counted(len(made.configurations), 'configurations')} failed: none "
            f"succeeds with {confidence:.0%} confidence, {likeliest['name']} with "
            f"{likeliest['chance']:.0%}; accepted: other --machines, or more measured runs"
        )
    return replace(made, warnings=tuple(_warnings(made)))


def _machine(prices: Mapping[str, MachineType], machine_type: str | None) -> tuple[float, float]:
    """Return the cores of a machine of this type, and what it costs an hour, if known."""
    if machine_type is None:
        raise RequestError(
            "the model does not say which machines it was measured on; "
            f"accepted: TYPE=MODEL.json with one of: {', '.join(prices)}"
        )
    if machine_type not in prices:
        raise unknown_name("machine type", machine_type, prices)
    found = prices[machine_type]
    return found.counted or found.cores, np.inf if found.price is None else found.price


def _configurations(
    model: JobModel, machines: Sequence[int], prices: Mapping[str, MachineType] | None, plan: Plan
) -> pd.DataFrame:
    """Return the configurations of one machine type."""
    cores, price = (1.0, 1.0) if prices is None else _machine(prices, model.machine_type)
    counts = np.array(machines, np.float64)
    seen = counts * cores if model.unit == "cores" else counts
    factor, rate = 1.0, price / 3600
    if plan.iterations is not None:
        if model.iterations is None:
            raise RequestError(
                f"the model of {model.source} does not say how many iterations a measured run "
                "did; accepted: a model of fit --iterations N"
            )
        factor = plan.iterations / model.iterations
    assert plan.scale is not None
    where = model.table(plan.scale, seen)
    chance = np.floor(100 * model.success(where) + 1e-9) / 100  # so that there are few levels
    # A run keeps to `high` if it succeeds, and then in time.
    sure = plan.confidence / np.maximum(chance, 0.01)
    sure[sure >= 1] = plan.confidence  # it is left out
    times = np.empty((3, len(counts)))
    for level in np.unique(sure):
        at = np.flatnonzero(sure == level)
        # Each has thousands of draws: so many at a time, 20 MB, bound the memory.
        for rows in np.array_split(at, -(-len(at) // 1_000)):
            times[:, rows] = predicted(model.estimator, where.iloc[rows], level)
    middle, low, high = times * factor
    test, testing = plan.spare_test, (counts + plan.spare) * plan.spare_test
    known = model.measured["machines"]  # nothing, of a type that other types stand for
    kind = model.machine_type
    return pd.DataFrame(
        {
            "name": [f"{count} × {kind}" if kind else f"{count}" for count in machines],
            "machine_type": pd.Series([kind] * len(counts), dtype=object),
            "machines": machines,
            "seconds": middle + test,
            "low": low + test,
            "high": high + test,
            "cost": rate * (counts * middle + testing),
            "cost_high": rate * (counts * high + testing),
            "in_measured_range": (seen >= known.min()) & (seen <= known.max()),
            "chance": chance,
        }
    )


def _warnings(plan: Plan) -> Iterator[str]:
    """Give sentences on the models, on what lies outside of them, and on what may fail."""
    models: Sequence[JobModel] = plan.models
    said: dict[str, None] = {}  # a model of several types has each once for each of them
    for model in models:
        plain = model.machine_type is None or model.types
        kind = "" if plain else f"{model.machine_type}: "
        said |= {f"{kind}{text}": None for text in model.warnings}
    yield from said
    scales = pd.concat([model.measured["scale"] for model in models])
    if plan.scale is not None and not scales.min() <= plan.scale <= scales.max():
        yield (
            f"the scale {readable_number(plan.scale)} is outside what was measured "
            f"({_range(scales)}); {_widening(models)}"
        )
    if plan.cost_unit == "USD" and plan.unit != "machines":
        yield f"a price is taken to be that of one {singular(plan.unit)}, as the runs count these"
    chosen, every = plan.chosen, plan.configurations
    for name in every["machine_type"][np.isinf(every["cost"])].unique():
        yield f"{name} has no price: only its time is compared"
    cut = next((model.iterations for model in models if model.iterations is not None), None)
    if cut is not None and plan.iterations is None:
        yield f"times are for {cut} iterations, as measured"
    for model in models:
        mine = plan.of_type(model.machine_type)
        far = mine[~mine["in_measured_range"]]
        if chosen is not None:
            far = far[far.index == chosen.Index]
        known = model.measured["machines"]
        if len(far) and known.empty:
            yield f"no run on {model.machine_type} was measured; others stand for it"
        elif len(far):
            kind = "" if model.machine_type is None else f" of {model.machine_type}"
            counts = f"{len(far)} of the {len(mine)} counts of {plan.unit}{kind}"
            subject = counts if chosen is None else counted(chosen.machines, plan.unit)
            unit = singular(model.unit) if (known == 1.0).all() else model.unit
            yield (
                f"outside what was measured ({_range(known)} {unit}): {subject}; "
                f"{_widening([model])}"
            )
    if left := len(every) - len(plan.sound):
        yield f"left out of {len(every)} configurations, as runs like them failed: {left}"


def _widening(models: Sequence[JobModel]) -> str:
    """Say whether the intervals of models are wider beyond what was measured."""
    if all(model.name in ("auto", "replay") for model in models if len(model.measured)):
        return "intervals are wider for it"
    return "intervals do not widen with the distance"


def _range(values: pd.Series) -> str:
    return " to ".join(dict.fromkeys(map(readable_number, (values.min(), values.max()))))
