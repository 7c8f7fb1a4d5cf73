"""Every option of a prediction has an effect on Spark, or is refused: real sample runs, by option.

The table of the local engine is printed by tests/test_contract_of_parts.py. What Spark's clock
says is replaced by a law here, so that two predictions differ because of the option alone.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import predict_graph
from predict_graph.algorithms import ALGORITHMS
from predict_graph.engines import critical_worker
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.options import ESTIMATION
from predict_graph.prediction import COST_MODELS
from tests.differing import LOOSER, PerRow, differs

pytestmark = [pytest.mark.spark, pytest.mark.long]

GRAPH = "barabasi-albert:n=1200,m=3,seed=1"
OTHERWISE = {
    "method": "published",
    "sampler": "rj",
    "ratio": 0.4,
    "train_ratios": (0.1, 0.4),
    "transform": LOOSER,
    "cost_model": "per-row",
    "max_overhead": 0.05,
    "probe": False,
    "train_machines": (1, 2),
    "budget": "0.001s",
    "within": 0.99,
    "workers": 3,
    "threads": 2,
}
"""A value of each option beside the default."""
REFUSED = {"ratio", "max_overhead", "probe", "train_machines", "within", "workers", "threads"}
"""What may be refused: in a session that is open, or by the default method of some algorithm."""


def by_law(profile):
    """Return a run with the seconds of a law instead of those of a clock."""
    prior = None if profile.prior is None else by_law(profile.prior)
    table = profile.table
    busiest = table[table["worker"] == critical_worker(profile.rows)]
    sent = (busiest["local_messages"] + busiest["remote_messages"]).to_numpy(float)
    seconds = (0.2 + 1e-6 * sent**1.2)[table["iteration"] - 1]
    told = dict.fromkeys(profile.phases, 0.01) | {"superstep": float(seconds.sum())}
    charged = {"seconds": seconds, "task_seconds": 0.7 * seconds, "cpu_seconds": 0.6 * seconds}
    return replace(profile, phases=told, rows=profile.rows.assign(**charged), prior=prior)


@pytest.fixture
def by_law_on_spark(monkeypatch):
    run = SparkEngine.run
    monkeypatch.setattr(
        SparkEngine, "run", lambda *given, **options: by_law(run(*given, **options))
    )


@pytest.fixture
def per_row():
    COST_MODELS.register("per-row")(PerRow)
    yield
    COST_MODELS.unregister("per-row")


def test_every_option_is_in_the_table():
    assert set(ESTIMATION) == set(OTHERWISE) - {"workers", "threads"}


@pytest.mark.parametrize("algorithm", ALGORITHMS.names())
def test_every_option_has_an_effect_or_is_refused(algorithm, by_law_on_spark, per_row, spark):
    graph = check_graph(GRAPH, directed=False if ALGORITHMS.get(algorithm)().undirected else None)

    def predict(**options):
        asked = {"history": "none", "seed": 1, "budget": "none"} | options
        return predict_graph.predict(algorithm, graph, engine="spark", spark=spark, **asked)

    usual = predict()
    assert not differs(predict(), usual)

    def cell(option):
        try:
            found = predict(**{option: OTHERWISE[option]})
        except RequestError as error:
            return f"refused: {error}"
        return "effect" if differs(found, usual) else "NONE"

    told = {option: cell(option) for option in OTHERWISE}
    row = " | ".join(each.split(":")[0] for each in told.values())
    print(f"\n| {algorithm} | spark | default | {row} |")
    for option, said in told.items():
        assert said != "NONE", option
        if said != "effect":
            assert option in REFUSED
            assert option.split("_")[-1] in said
            assert option != "ratio" or ALGORITHMS.get(algorithm).known_work
            assert "\n" not in said
