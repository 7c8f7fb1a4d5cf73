"""From the counters of a sample to those of the graph."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import check_algorithm
from predict_graph.engines import COUNTERS
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.samples import extrapolated
from predict_graph.prediction.work import counted, records_of, records_to_keep
from predict_graph.table import Table

EDGE_COUNTERS = [name for name in COUNTERS if name != "active_vertices"]
FACTORS = st.floats(0.1, 1000.0)


@st.composite
def tables(draw):
    length = draw(st.integers(1, 8))
    counts = st.lists(st.integers(0, 10**6), min_size=length, max_size=length)
    return Table({name: draw(counts) for name in (*COUNTERS, "total_vertices")})


@given(rows=tables(), e_v=FACTORS, e_e=FACTORS, iterations=st.integers(1, 20))
def test_vertex_features_by_e_v_edge_features_by_e_e(rows, e_v, e_e, iterations):
    result = counted(extrapolated(rows, iterations, e_v, e_e))
    assert result["iteration"].tolist() == list(range(1, iterations + 1))
    for number in range(iterations):
        source = rows.records()[min(number, len(rows) - 1)]
        for name in ("active_vertices", "total_vertices"):
            assert abs(result[name][number] - source[name] * e_v) <= 0.5 + 1e-6
        for name in EDGE_COUNTERS:
            assert abs(result[name][number] - source[name] * e_e) <= 0.5 + 1e-6


def test_runs_are_kept_without_what_they_waited_for_cores():
    graph = check_graph("barabasi-albert:n=500,m=3,seed=1")
    profile = replace(LocalEngine().run(check_algorithm("pagerank"), graph), slowdown=2.0)
    (alone,), (whole,) = records_to_keep(profile), records_of(profile)
    assert alone.phases == {name: each / 2.0 for name, each in whole.phases.items()}
    assert 2.0 * alone.rows.floats("seconds").sum() == whole.rows.floats("seconds").sum()
