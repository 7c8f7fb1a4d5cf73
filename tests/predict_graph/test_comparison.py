"""Samplers compared: ranks with their confidence, own samplers beside ours, exports."""

import pytest

from predict_graph.comparison import SamplerComparison, compare_samplers
from predict_graph.iterations import SAMPLERS
from samplers import UniformVertices
from tests.refusals import refused

GRAPHS = ["barabasi-albert:n=600,m=3,seed=1", "rmat:scale=9,edge_factor=8,seed=2"]


def measured(*, graphs=1, **errors):
    """One row for each graph, sampler and seed, with errors of the iterations of PageRank."""
    fixed = {"ratio": 0.1, "seconds": 0.1, "edge_share": 0.1, "d_in_degree": 0.5}
    fixed |= {"d_out_degree": None, "d_hop_plot": 0.5, "pagerank_sample": 10, "pagerank_graph": 10}
    rows = [
        {**fixed, "graph": f"g{graph}", "sampler": name, "seed": seed, "pagerank_error": error}
        for graph in range(graphs)
        for name, each in errors.items()
        for seed, error in enumerate(each)
    ]
    return SamplerComparison(rows, ["pagerank"], 1)


def test_ranks_are_as_sure_as_the_samples():
    found = measured(graphs=4, a=[0.1] * 3, b=[0.4] * 3).ranks("pagerank")
    assert found.index.tolist() == ["a", "b"]
    assert found[["rank", "low", "high"]].to_numpy().tolist() == [[1.0] * 3, [2.0] * 3]
    assert found.loc["b", "value"] == pytest.approx(0.4)
    near = measured(graphs=4, a=[0.1, 0.3, 0.2], b=[0.2, 0.2, 0.3]).ranks("pagerank")
    assert (near["low"] < near["rank"]).all()
    found = measured(a=[0.1], b=[0.4]).ranks("pagerank")  # of one sample any rank is possible
    assert found[["low", "high"]].to_numpy().tolist() == [[1.0, 2.0]] * 2


FEW = [(1, 2, "say little"), (1, 9, "one graph"), (4, 3, "")]


@pytest.mark.parametrize(("graphs", "samples", "warning"), FEW)
def test_few_samples_are_told(graphs, samples, warning):
    found = measured(graphs=graphs, a=[0.1] * samples, b=[0.2] * samples).answer.warnings
    assert warning in "".join(found)
    assert bool(found) == bool(warning)


TIES = [
    ({"a": [0.1] * 8, "b": [-0.1] * 8, "c": [0.1] * 8}, "abc", "pagerank: a tie of a, b and c"),
    ({"a": [1, 2, 3] * 3, "b": [2, 3, 1] * 3, "c": [3, 1, 2] * 3}, "abc", "a tie of a, b and c"),
    ({"a": [0.1, 0.3] * 4, "b": [-0.3, 0.1] * 4, "c": [0.9] * 8}, "ab", "a and b, error 20%"),
    # Few samples name no winner.
    ({"a": [0.1], "b": [0.9]}, "ab", "nearest to the iterations of pagerank: a tie of a and b"),
    ({"a": [0.1] * 4, "b": [0.9] * 4}, "ab", "pagerank: a tie of a and b"),
    ({"a": [0.1] * 5, "b": [0.9] * 5}, "a", "pagerank: a, mean rank 1"),
]


@pytest.mark.parametrize(("errors", "tied", "said"), TIES)
def test_samplers_that_may_be_equally_good_are_tied(errors, tied, said):
    found = measured(**errors)
    ranks = found.ranks("pagerank")
    assert {*ranks.index[ranks["tied"]]} == {*tied}
    assert said in found.answer.sentence


def test_pictures_show_the_figures_of_the_tables_in_their_order():
    found = measured(opposite=[-0.5, 0.5] * 4, low=[-0.2] * 8, high=[0.3] * 8)
    found.rows[1]["d_hop_plot"] = None  # as that of samples without edges is
    assert [row.count(None) for row in found.answer.more[0].rows[:2]] == [1, 2]
    tables = {table.title: table.rows for table in found.answer.tables}
    errors = dict(row[:2] for row in tables["samplers by the iterations of pagerank"])
    assert [*errors.items()] == [("low", "20.0%"), ("high", "30.0%"), ("opposite", "50.0%")]
    one, picture = found.pictures()
    assert {one.title, picture.title} == {"Ranks by fidelity", "Ranks by iterations of pagerank"}
    (drawn,) = picture.draw(pytest.importorskip("matplotlib.figure").Figure().subplots())
    assert drawn.names == ["low", "high", "opposite"]


@pytest.mark.slow
@pytest.mark.usefixtures("only_built_in")
def test_graphs_by_samplers_by_ratios_by_seeds():
    SAMPLERS.register("my-own")(UniformVertices)
    options = {"algorithms": ["pagerank"], "ratio": [0.1, 0.3], "seeds": 2, "seed": 5}
    found = compare_samplers(GRAPHS, samplers={"rj": 1, "my-own": 2}.keys(), **options)
    assert len(found.rows) == 2 * 2 * 2 * 2
    assert {row["seed"] for row in found.rows} == {5, 6}
    assert {row["ratio"] for row in found.rows} == {0.1, 0.3}
    assert {*found.ranks("pagerank").index} == {"rj", "my-own"}
    assert "most faithful" in found.answer.sentence
    assert "ranks: 90% sure" in str(found.answer)


def test_wrong_requests():
    refused("no graph", compare_samplers, [])
    refused("no sampler", compare_samplers, GRAPHS, samplers=[])
    refused("unknown sampler 'rjj'; did you mean rj", compare_samplers, GRAPHS, samplers="rjj")
    refused("algorithm 'pagerang'; did you mean", compare_samplers, GRAPHS, algorithms="pagerang")
    refused("seeds is 1.5", compare_samplers, GRAPHS, seeds=1.5)
    refused("no ratio", compare_samplers, GRAPHS, ratio=[])
    refused("ratio is 2", compare_samplers, GRAPHS, ratio=[0.1, 2])
