"""What an engine charges of which nothing is known but its runs; see also the contract tests."""

import numpy as np
import pandas as pd
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.learned import _on_critical_path, _unevenness


def table(*shares):
    """One iteration of workers that have these shares of everything, and of the out-edges."""
    columns = {name: 1000.0 * np.array(shares) for name in (*COUNTERS, "total_vertices")}
    return pd.DataFrame(
        {"iteration": 1, "worker": range(len(shares)), "out_edges": np.array(shares), **columns}
    )


def test_the_fullest_worker_is_as_much_less_uneven_as_the_whole_graph_is():
    rows = pd.DataFrame({name: [100.0, 40.0] for name in (*COUNTERS, "total_vertices")})
    found = _on_critical_path(
        rows, [table(0.25, 0.75), table(0.7, 0.3)], [(0.5, 0.2), (1.0, 0.3)], busiest=False
    )
    # By edges: a half, and the mean of 0.25 x 0.2 and 0.2 x 0.3 on top.
    assert found["remote_messages"].tolist() == pytest.approx([55.5, 22.2])
    assert found["active_vertices"].tolist() == pytest.approx([66.25, 26.5])


def test_what_no_sample_run_did_is_shared_evenly():
    rows = pd.DataFrame({name: [100.0] for name in (*COUNTERS, "total_vertices")})
    silent = table(0.2, 0.8).assign(local_messages=0.0)
    found = _on_critical_path(rows, [silent], [(1.0, 1.0)], busiest=False)
    assert found["local_messages"].tolist() == [50.0]
    assert found["remote_messages"].tolist() == pytest.approx([80.0])


def test_unevenness_is_the_deviation_of_a_share_that_chance_gives():
    graph = check_graph("barabasi-albert:n=2000,m=3,seed=1")
    rng = np.random.default_rng(0)
    workers = rng.integers(0, 4, (400, graph.vertices))
    degrees = graph.out_degrees / graph.edges
    for weights, expected in zip(
        (np.full(graph.vertices, 1 / graph.vertices), degrees), _unevenness(graph), strict=True
    ):
        shares = [weights[drawn == 0].sum() for drawn in workers]
        assert np.std(shares) == pytest.approx(expected * np.sqrt(0.25 * 0.75), rel=0.15)
