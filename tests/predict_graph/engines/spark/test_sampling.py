"""Walks side by side on Spark give samples like those of the compiled samplers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines.spark.sampling import SparkSample, SparkSampler, induced, to_graph
from predict_graph.engines.spark.sampling.randomness import chance, new_seed
from predict_graph.engines.spark.sampling.starts import highest_degrees
from predict_graph.engines.spark.sampling.walks import STEP_BITS
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.numbering import numbered
from predict_graph.engines.spark.tables.reading import SparkGraph, read_spark_graph, spark_graph_of
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from samplers import (
    BiasedRandomJump,
    MetropolisHastingsRandomWalk,
    RandomJump,
    fidelity_report,
    graph_properties,
)

pytestmark = pytest.mark.spark

COMPILED = {"rj": RandomJump, "brj": BiasedRandomJump, "mhrw": MetropolisHastingsRandomWalk}
RESTART = 0.4  # more often than by default: shorter walks take fewer jobs of Spark


@pytest.fixture(scope="module")
def session(local_session: OpenSession) -> OpenSession:
    return local_session


@pytest.fixture(scope="module")
def local() -> Graph:
    return check_graph("rmat:scale=12,edge_factor=8,seed=2")


@pytest.fixture(scope="module")
def graph(session: OpenSession, local: Graph) -> SparkGraph:
    return spark_graph_of(session, local)


@pytest.fixture(scope="module")
def sampler(session, graph):
    with SparkSampler(session, graph) as opened:
        yield opened


def rows(sample: SparkSample) -> pd.DataFrame:
    return sample.table.orderBy("position").toPandas()


def faith(report) -> np.ndarray:
    return np.array([report.in_degree_d, report.out_degree_d, report.density_ratio])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("rj", marks=pytest.mark.long),
        "brj",
        pytest.param("mhrw", marks=pytest.mark.long),
    ],
)
def test_as_faithful_as_the_compiled_sampler(sampler, local, name):
    """D-statistics and density lie within four standard deviations of the compiled sampler's."""
    whole = graph_properties(local, 0)

    def measured(vertices):
        return faith(fidelity_report(local, vertices, 0, whole))

    like = COMPILED[name](restart=RESTART)
    compiled = [measured(like.sample(local, 0.2, seed).vertices) for seed in range(16)]
    sample = sampler.sample(name, 0.2, random_state=5, restart=RESTART)
    found = rows(sample)
    assert len(sample) == len(set(found["vertex"])) == round(0.2 * local.vertices)
    assert found["position"].tolist() == list(range(len(sample)))
    assert sample.unreached == 0
    assert sample.edges_scanned == local.out_degrees[found["vertex"]].sum()
    difference = np.abs(measured(found["vertex"].to_numpy()) - np.mean(compiled, axis=0))
    assert (difference < 4 * np.std(compiled, axis=0, ddof=1) + 0.005).all()
    walks_along_edges(local, found, both=name == "mhrw")
    if name == "mhrw":  # a walk is a geometric number of visits, but for one at a lone vertex
        alone = np.mean(local.out_degrees + local.in_degrees == 0)
        expected = alone + (1 - alone) / RESTART
        assert sample.steps / sample.walks == pytest.approx(expected, rel=0.15)


def walks_along_edges(local: Graph, found: pd.DataFrame, *, both: bool) -> None:
    """Check that two vertices found one step after the other in a walk are neighbours."""
    found = found.sort_values("place")
    same_walk = np.diff(found["place"].to_numpy() >> STEP_BITS) == 0
    follows = same_walk & (np.diff(found["place"].to_numpy()) == 1)
    vertices = found["vertex"].to_numpy()
    pairs = list(zip(vertices[:-1][follows], vertices[1:][follows], strict=True))
    assert len(pairs) > 0.1 * len(found)
    for v, w in pairs:
        assert w in local.neighbors(v) or (both and v in local.neighbors(w))


def test_the_same_seed_gives_the_same_sample_on_other_partitions(session, graph, sampler):
    first = rows(sampler.sample("rj", 0.05, random_state=3, restart=0.5))
    before = session.spark.conf.get("spark.sql.shuffle.partitions")
    session.spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        with SparkSampler(session, graph) as other:
            again = rows(other.sample("rj", 0.05, random_state=3, restart=0.5))
    finally:
        session.spark.conf.set("spark.sql.shuffle.partitions", before)
    assert first.equals(again)


def test_ends_where_walks_find_nothing(session):
    """A core that walks cannot leave, a chain that leads to it, and vertices without edges."""
    core = np.arange(10)
    sources = np.concatenate([np.repeat(core, 10), np.arange(10, 30)])
    targets = np.concatenate([np.tile(core, 10), np.arange(9, 29)])
    local = from_edges(sources, targets, vertices=60)
    with SparkSampler(session, spark_graph_of(session, local)) as sampler:
        some = sampler.sample("brj", 0.5, random_state=0, patience=50, restart=0.5)
        found = rows(some)["vertex"]
        assert len(set(found)) == 30
        assert set(found[:10]) == set(range(10))
        assert 0 < some.unreached <= 20
        everything = sampler.sample("rj", 1.0, random_state=0, patience=10, restart=0.5)
        assert set(rows(everything)["vertex"]) == set(range(60))


def test_the_subgraph_is_that_of_the_local_graph(session, tmp_path):
    path = tmp_path / "weighted.csv"
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 200, (900, 2)) * 7
    weights = rng.integers(1, 9, 900) / 4
    table = pd.DataFrame({"src": ends[:, 0], "dst": ends[:, 1], "weight": weights})
    table.to_csv(path, index=False)
    local = check_graph(path, directed=False)
    graph = read_spark_graph(session, path, directed=False)
    with SparkSampler(session, graph) as sampler:
        sample = sampler.sample("rj", 0.3, random_state=2, restart=RESTART)
    vertices = rows(sample)["vertex"].to_numpy()
    expected = local.subgraph(vertices)
    collected = to_graph(session, graph, sample)
    assert collected.fingerprint == expected.fingerprint
    assert not collected.directed
    assert collected.labels is not None
    assert expected.labels is not None
    assert collected.labels.tolist() == expected.labels.tolist()
    kept = induced(graph.edge_table(session), sample.table).toPandas()
    assert len(kept) == expected.edges
    assert set(kept["src"]) | set(kept["dst"]) <= set(vertices)


def test_seeds_are_those_of_the_compiled_sampler(session, local, sampler):
    degrees = sampler._adjacency(False).degrees
    for fraction in (0.01, 0.4, 0.9):
        expected = BiasedRandomJump(seed_fraction=fraction).seeds(local)
        seeds = highest_degrees(session.spark, degrees, local.vertices, len(expected)).toPandas()
        seeds = seeds.sort_values("number")
        assert seeds["id"].tolist() == expected.tolist()
        assert seeds["number"].tolist() == list(range(len(expected)))


def test_numbers_follow_the_order(session):
    table = session.spark.range(1000).selectExpr("(id * 611) % 1000 * 3 AS key")
    table, count = numbered(table, "key", name="number")
    found = table.toPandas()
    assert count == 1000
    assert (found["number"] * 3 == found["key"]).all()


def test_random_numbers_are_uniform_and_independent(session):
    from pyspark.sql import functions as F

    draws = session.spark.range(20_000).select(
        *(chance(7, purpose, F.col("id")).alias(purpose) for purpose in ("a", "b"))
    )
    found = draws.toPandas()
    for purpose in ("a", "b"):
        counts = np.histogram(found[purpose], 20, (0, 1))[0]
        assert ((counts - 1000) ** 2 / 1000).sum() < 45.3  # chi-square, 19 degrees, 0.06%
    assert abs(np.corrcoef(found["a"], found["b"])[0, 1]) < 0.03
    assert abs(np.corrcoef(found["a"][:-1], found["a"][1:])[0, 1]) < 0.03


def test_wrong_arguments(sampler):
    for arguments, message in (
        ({"sampler": "ff"}, "unknown sampler on Spark 'ff'; accepted: brj, mhrw, rj"),
        ({"ratio": 0}, r"ratio is 0; accepted: a number in \(0, 1\]"),
        ({"ratio": 1.5}, "ratio is 1.5"),
        ({"restart": 0.01}, r"restart is 0.01; accepted: a number in \[0.05, 1\]"),
        ({"seed_fraction": 2}, "seed_fraction is 2"),
        ({"patience": 0}, "patience is 0"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ):
        with pytest.raises(RequestError, match=message):
            sampler.sample(**{"sampler": "rj", "ratio": 0.1, **arguments})
    with pytest.raises(ValueError, match="random_state is -1"):
        new_seed(-1)
