import pytest

from predict_graph.functions.comparing import compare_functions
from predict_graph.graph import check_graph

pytestmark = pytest.mark.slow  # measures, and starts processes


@pytest.mark.parametrize(
    ("names", "alike"),
    [
        (["networkx:core_number", "igraph:coreness"], True),
        (["networkx:core_number", "networkx:triangles"], False),
    ],
)
def test_functions_are_ranked_if_they_compute_the_same(names, alike):
    pytest.importorskip("igraph")
    graph = check_graph("barabasi-albert:n=60,m=3,seed=1")
    said = compare_functions(names, graph, history="none", seed=1).answer.sentence
    assert said.startswith("the fastest is") == alike
    assert ("may compute different things" in said) == (not alike)
