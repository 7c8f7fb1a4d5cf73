from __future__ import annotations

import sys
from functools import partial

import networkx as nx
import pytest

import predict_graph
from predict_graph.functions import naming
from predict_graph.functions.naming import check_arguments, check_function
from predict_graph.functions.subject import Subject, build
from predict_graph.graph import check_graph
from predict_graph.plugin_files import code_digest, file_module
from tests.refusals import refused


def test_names_of_a_library_and_callables_are_one_function():
    name = "networkx:betweenness_centrality"
    by_name, given = (check_function(f, (3,)) for f in (name, nx.betweenness_centrality))
    assert by_name == given
    assert (given.name, given.form, given.library_version) == (name, "networkx", nx.__version__)


def test_classes_of_networkit_are_run():
    score = check_function(pytest.importorskip("networkit").centrality.DegreeCentrality)
    scores = score(build(check_graph("path:n=2"), "networkit")).scores()
    assert (score.name, scores) == ("networkit:centrality.DegreeCentrality", [1.0, 1.0])


BETWEENNESS = ["igraph:betweenness", "igraph:Graph.betweenness", "igraph.Graph:betweenness"]


@pytest.mark.parametrize("name", BETWEENNESS)
def test_a_function_of_a_library_gets_a_graph_of_that_library(name):
    found = check_function(name, graph=nx.path_graph(3))
    assert found == check_function(pytest.importorskip("igraph").Graph.betweenness)
    assert predict_graph.track(name, nx.star_graph(3)) == [3.0, 0.0, 0.0, 0.0]


COUNT = "import networkx as nx\ndef count(graph: nx.Graph):\n    return {}\n"


def test_a_file_or_module_of_ones_own_is_known_by_its_code(written, tmp_path, monkeypatch):
    file = written(COUNT.format("len(graph)"), "graph.py")
    monkeypatch.syspath_prepend(tmp_path)
    first, module = check_function(f"{file}:count"), check_function("graph:count")
    assert (first.name, first.form, first.library) == ("graph.py:count", "networkx", "")
    assert (module.form, module.library, module.code) == ("networkx", "", first.code)
    file.write_text(COUNT.format(7))
    assert check_function(f"{file}:count")(nx.path_graph(4)) == 7


ANNOTATED = {nx.DiGraph: "networkx", "DataFrame": "polars", "pd.DataFrame": "pandas"}


@pytest.mark.parametrize("annotation", [*ANNOTATED, "mypkg.impl.G"])
def test_the_form_is_taken_from_the_annotation_or_the_imports(monkeypatch, annotation):
    def call(graph): ...

    call.__annotations__["graph"] = annotation
    monkeypatch.setattr(naming, "find_spec", bool)  # polars may be missing
    given = type("DataFrame", (), {"__module__": "polars"})()
    forms = {check_function(each, graph=given).form for each in (call, partial(call))}
    assert forms == {ANNOTATED.get(annotation, "networkx")}
    assert check_function(call, form="scipy", graph=given).form == "scipy"


def test_wrong_names_and_arguments_are_explained():
    centrality, unknown = nx.betweenness_centrality, {"kk": 3}
    refused("did you mean betweenness_centrality", check_function, "networkx:betweeness_centrality")
    refused("there is no module 'no_such_module'", check_function, "no_such_module:f")
    refused("is a str", check_function, "networkx:__version__")
    refused("cannot be loaded: No such file", check_function, "/no/such/file.py:f")
    refused("'kk'; accepted after .*: k=None", check_function, centrality, keywords=unknown)
    refused("with a graph .*: too many positional", check_function, lambda: None, form="networkx")
    refused("unknown form of a graph 'matrix'", check_function, nx.pagerank, form="matrix")
    refused("the argument k is given twice", check_arguments, ["k=1", "k=2"])


def test_a_file_or_module_that_breaks_is_explained(written, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    refused("line 1", check_function, f"{written('def f(:', 'unread.py')}:f")
    refused("SystemExit", check_function, f"{written('raise SystemExit(3)', 'ending.py')}:f")
    written("import not_installed\n", "broken.py")
    refused("No module named 'not_installed'", check_function, "broken:f")


# A file beside the function's, with a number that differs, and a function with it.
AROUND = "K = {}\ndef of(v):\n    return K * v\n"
USES = [
    "class T:\n  def of(self):\n    self.K = 1\ndef f(g):\n  return [(T().of(), of(v)) for v in g]",
    "class f:\n    @property\n    def prior(self):\n        return of(1)",
    "class Base:\n    def update(self, state):\n        return K\nclass f(Base): ...",
    "import around\ndef f(graph):\n    return around",
    "f = [lambda graph, *, k=k: k for k in (K,)][0]",
    "def made(held):\n    return lambda graph: held\nf = made({'k': [K]})",
    "class Own:\n    k = K\n    def f(self, graph): ...\nown = Own()\nown.k = K\nf = own.f",
    "T = {'k': lambda: K}\ndef f(graph):\n    return T['k']()",
    "class Own:\n    def __init__(self):\n        self.k = K\nT = Own()\ndef f(g):\n    return T",
    "import far\nclass Own:\n  def k(self):\n    far.of(1)\nT = [Own()]\ndef f(g):\n    T[0].k()",
    "import numpy\nT = numpy.arange(K), 1\ndef f(graph):\n    return T",
    "from functools import wraps\ndef made(k):\n    return wraps(of)(lambda g: k)\nf = made(K)",
    "exec('def f(graph):\\n    return K')  # without a source",
    "from functools import cache\ndef f(k):\n    f = cache(lambda v: f(k))\n    return f\nf = f(K)",
]


@pytest.mark.parametrize("use", USES)
def test_what_is_used_anywhere_inside_distinguishes_code(written, use):
    def digest(k):
        written(AROUND.format(k), "around.py")
        written("import around\nof = lambda v: around.of(v)\n", "far.py")
        for name in ("around", "far"):
            sys.modules.pop(name, None)
        text = f"from around import K, of  # {k}\n{use}"
        return code_digest(file_module(written(text, "own.py")).f)

    assert len({digest(5), digest(500), digest(5)}) == 2


CACHES = "KEPT, LAST = {}, None\ndef put(k):\n    global LAST\n    KEPT[k] = LAST = {k}\n"
CACHES += "    return LAST\ndef set_options(k):\n    OPTIONS['k'] = k\nOPTIONS = {}\n"


def test_what_a_function_fills_is_no_part_of_its_code_but_options_are(written):
    written(CACHES, "caches.py")
    text = "import caches\nclass F:\n n, known = 0, {}\n def __call__(self, g):\n  self.n += 1\n"
    text += "  self.keep(caches.put(g), caches.OPTIONS)\n def keep(self, *k):\n"
    text += "  caches.KEPT[0] = self.known[0] = k\nf = F()\n"
    own = file_module(written(text, "own.py"))
    f, change = own.f, own.caches.set_options
    first, _, again, _, other = code_digest(f), f(1), code_digest(f), change(2), code_digest(f)
    assert first == again != other


def test_vertices_are_known_by_their_ids():
    length, predict = "networkx:single_source_shortest_path_length", predict_graph.predict
    refused("source has 1, which is not a vertex", predict, length, [(5, 7)], source=1)
    assert predict(length, [("5", "x")], source=5, seed=1).evidence  # an id among texts
    for given, moved in (([9, 5], [2, 0]), ({9}, {2}), ({9: 2.0, 5: 1.0}, {2: 2.0, 0: 1.0})):
        asked = check_function("networkx:pagerank", keywords={"personalization": given})
        case = Subject(asked, [(5, 7), (7, 9)])
        assert case.whole().call.keywords == {"personalization": moved}
    assert predict("networkx:bethe_hessian_spectrum", [(5, 7), (7, 9)], r=2, seed=1).evidence
