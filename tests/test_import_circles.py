"""No module imports one that imports it, at whatever line, types apart: data flow one way."""

import grimp
import networkx as nx
import pytest


@pytest.mark.parametrize("package", ["samplers", "costmodels", "predict_graph"])
def test_no_circles(package):
    graph = grimp.build_graph(package, exclude_type_checking_imports=True)
    imports = nx.DiGraph(
        (module, other)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
    )
    assert [part for part in nx.strongly_connected_components(imports) if len(part) > 1] == []
