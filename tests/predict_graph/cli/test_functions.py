"""Functions on the command line."""

import json
import os

import pytest

from tests.distributions import install

GRAPH = "barabasi-albert:n=300,m=4,seed=1"


def test_predict_a_function(program, tmp_path):
    file = tmp_path / "said.json"
    asked = f"networkx:betweenness_centrality {GRAPH} --arg k=100 --budget 5% --seed 1"
    assert program("predict", *asked.split(), "--json", file, status=0).out.startswith("about")
    said = json.loads(file.read_text())
    assert said["algorithm"]["parameters"] == {"k": 100, "seed": 1}
    assert said["overhead"]["budget"].startswith("5")


def test_a_function_of_a_file_of_ones_own(program, written):
    written("def total(graph): return graph.sum()", "beside_mine.py")
    call = f"{written('from beside_mine import total as f', 'mine.py')}:f"
    failed = program("predict", call, GRAPH, status=1)
    assert "called with a graph of the form networkx, --as names another" in failed.err
    assert "mine.py:f" in program("predict", call, GRAPH, "--as", "scipy", status=0).out


BACKEND = """
import networkx as nx

class Rows(nx.Graph):
    __networkx_backend__ = "rows"

class BackendInterface:
    @staticmethod
    def convert_from_nx(graph, **more):
        return Rows(graph)

    @staticmethod
    def convert_to_nx(result, **more):
        return result

    @staticmethod
    def core_number(graph, **more):
        return dict.fromkeys(graph, 1)
"""
INFO = "def get_info(): return {'functions': {'core_number': {}}}"  # read while networkx is loaded


@pytest.mark.slow
def test_backends_of_networkx_are_beside_it(process, tmp_path):
    """A package with the entry points that networkx asks of a backend."""
    points = (
        "[networkx.backends]\nrows = rows_backend:BackendInterface\n"
        "[networkx.backend_info]\nrows = rows_info:get_info\n"
    )
    install(tmp_path, "rows-backend", points, rows_backend=BACKEND, rows_info=INFO)
    asked = ["compare-functions", GRAPH, "networkx:core_number", "networkx:triangles"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = process(*asked, "--json", tmp_path / "found.json", env=environment)
    assert "networkx:core_number, backend rows" in done.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert [each["algorithm"]["parameters"] for each in found] == [{}, {"backend": "rows"}, {}]


@pytest.mark.slow
def test_validate_and_run_a_function(program, written, tmp_path):
    source = "import networkx as nx\ndef f(graph: nx.Graph, k=1): return 7**(9000*k)\n"
    mine, out, again = f"{written(source, 'mine.py')}:f", tmp_path / "said", tmp_path / "again"
    for name in ("networkx:triangles", "networkx.algorithms.cluster:triangles", mine):
        assert "took" in program("validate", name, GRAPH, "--json", out, status=0).out
        said = json.loads(out.read_text())
        assert {"runtime_seconds", "actual", "errors", "inside_interval"} <= said.keys()
    done = program("run", mine, GRAPH, "--expect", out, "--json", again)
    assert "the first prediction was" in done.out
    assert done.out.startswith(json.loads(again.read_text())["verdict"]["sentence"])
    for other in ((GRAPH, "--arg", "k=2"), ("cycle:n=9",)):
        program("run", mine, *other, "--expect", out).is_refused("no prediction of mine.py:f")
    done = program("track", mine, GRAPH, "--arg", "k=2", "--json", out)
    assert json.loads(out.read_text())["phases"]["call"] > 0
    assert "no prediction was made before this run" in done.out
    assert "(without a text)" in done.out


FAILURES = [
    ("class X(BaseException): pass\n    raise X('q')", "X: q"),
    ("raise SystemExit(0)", "SystemExit: 0"),
    ("class X(Exception): __str__ = lambda self: 3\n    raise X()", "X: (without a text)"),
    ("os.kill(os.getpid(), 11)", "it crashed: SIGSEGV, segmentation fault"),
    ("os.kill(os.getpid(), 40)", "it crashed: signal 40"),
    ("os._exit(3)", "it ended its process: exit status 3"),
]


@pytest.mark.parametrize(("body", "said"), FAILURES)
@pytest.mark.parametrize("command", ["run", "predict"])  # validate predicts first, and then runs
def test_whatever_a_function_does_is_its_own_failure(program, written, command, body, said):
    head = "import faulthandler, os, time\ndef f(graph):\n    faulthandler.disable()\n"
    call = f"{written(head + f'    {body}; time.sleep(9)', 'f.py')}:f"
    done = program(command, call, GRAPH, "--as", "networkx", status=1)
    assert all(part in done.err for part in ("f.py:f fails on ", f"{GRAPH}: ", said))
    assert "internal error" not in done.err


@pytest.mark.slow
def test_a_function_that_forks_and_returns_is_shown_once(process, written):
    file = written("import os\ndef f(graph):\n    os.fork()\n    return 1\n", "f.py")
    done = process("run", f"{file}:f", GRAPH, "--as", "networkx")
    assert (done.out.count("took"), done.err.count("took")) == (1, 0)


def test_a_function_of_undirected_graphs_says_how_to_read_one(program, written):
    file = written("1 2\n2 3\n3 1\n", "g.txt")
    program("run", "networkx:bfs_tree", file, "--arg", "source=9").is_refused("source has 9, which")
    done = program("predict", "networkx:triangles", file, "--directed", status=1)
    said = "accepted: the graph without directions (--undirected, directed=False)"
    assert done.err.rstrip().endswith(said)
    done = program("predict", "networkx:ego_graph", file, "--arg", "n=9", status=1)
    assert done.err.rstrip().endswith("directed=True changes that)")
    program("compare-functions", file, "networkx:triangles", "--directed", status=1)
