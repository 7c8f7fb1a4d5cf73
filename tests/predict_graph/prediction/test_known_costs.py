"""Seconds of an engine that charges by a law: what is predicted is held against the law.

What a real run takes varies by more than a test can allow for, so this engine tells its own time:
it runs on the kernels of the local one, and says what the law makes of the counters.
"""

import dataclasses

import pytest

import predict_graph
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph

GRAPHS = ["rmat:scale=12,edge_factor=8,seed=3", "barabasi-albert:n=20000,m=5,seed=1"]
SETUP = 0.25


def messages(rows):
    return rows["local_messages"] + rows["remote_messages"]


LAWS = {
    "a second an iteration": (lambda rows: 1.0 + 0.0 * messages(rows), 0.01),
    "20 ms and 2 us a message": (lambda rows: 0.02 + 2e-6 * messages(rows), 0.01),
    # Which of two counters that grow alike costs how much, a few sample runs cannot tell exactly.
    "by vertex and remote message": (
        lambda rows: 1e-3 + 3e-6 * rows["active_vertices"] + 1e-6 * rows["remote_messages"],
        0.15,
    ),
}


class KnownCosts(LocalEngine):
    """An engine whose seconds follow a law of its counters."""

    name = "known"

    def __init__(self, law):
        super().__init__(workers=4, threads=1)
        self.law = law

    def describe(self):
        return {"name": self.name, "workers": self.workers}

    def prepare(self, algorithm, graph):
        return SETUP

    def probe(self, algorithm, graph, rng):
        return None

    def run(self, algorithm, graph, **options):
        profile = super().run(algorithm, graph, **options)
        rows = profile.per_iteration()
        seconds = dict(zip(rows["iteration"], self.law(rows), strict=True))
        return dataclasses.replace(
            profile,
            rows=profile.rows.assign(seconds=profile.table["iteration"].map(seconds)),
            engine=self.describe(),
            phases={"setup": SETUP, "read": 0.0, "superstep": sum(seconds.values()), "write": 0.0},
        )


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("law", LAWS)
def test_what_an_engine_charges_is_learned_from_its_sample_runs(graph, law):
    charge, tolerance = LAWS[law]
    engine = KnownCosts(charge)
    actual = engine.run(check_algorithm("pagerank"), check_graph(graph))
    an_iteration = actual.phases["superstep"] / actual.iterations
    for seed in (1, 2):
        found = predict_graph.predict(
            "pagerank", graph, engine=engine, history="none", seed=seed, budget="none"
        )
        assert found.phases["setup"] == pytest.approx(SETUP)
        assert found.per_iteration["seconds"].mean() == pytest.approx(an_iteration, rel=tolerance)
        assert found.iterations.low <= actual.iterations <= found.iterations.high


def test_twice_the_charge_is_twice_the_seconds():
    charge, _ = LAWS["20 ms and 2 us a message"]
    once, twice = (
        predict_graph.predict(
            "pagerank",
            GRAPHS[0],
            engine=KnownCosts(lambda rows, times=times: times * charge(rows)),
            history="none",
            seed=1,
            budget="none",
        )
        for times in (1.0, 2.0)
    )
    assert twice.phases["superstep"] == pytest.approx(2.0 * once.phases["superstep"], rel=1e-6)
