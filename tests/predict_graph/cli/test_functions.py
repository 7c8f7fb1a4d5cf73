"""Functions on the command line."""

import json
import os

import pytest

from tests.distributions import install

GRAPH = "barabasi-albert:n=300,m=4,seed=1"


def test_predict_a_function(program, tmp_path):
    file = tmp_path / "said.json"
    asked = f"{GRAPH} --arg k=100 --budget 5% --seed 1 --json {file}"
    done = program("predict", "networkx:betweenness_centrality", *asked.split())
    assert done.status == 0, done
    assert done.out.startswith("about")
    said = json.loads(file.read_text())
    assert said["algorithm"]["parameters"] == {"k": 100, "seed": 1}
    assert said["overhead"]["budget"].startswith("5")


def test_a_function_of_a_file_of_ones_own(program, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(graph):\n    return graph.sum()\n")
    failed = program("predict", f"{file}:f", GRAPH)
    assert failed.status == 1
    assert "called with a graph of the form networkx, --as names another" in failed.err
    done = program("predict", f"{file}:f", GRAPH, "--as", "scipy")
    assert done.status == 0, done
    assert "mine.py:f" in done.out


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
    assert "networkx:triangles, backend" not in done.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert [each["algorithm"]["parameters"] for each in found] == [{}, {"backend": "rows"}, {}]


@pytest.mark.slow
def test_validate_and_run_a_function(program, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import networkx as nx\ndef f(graph: nx.Graph, k=1):\n    return graph.degree\n"
    )
    for name in ("networkx:triangles", "networkx.algorithms.cluster:triangles", f"{mine}:f"):
        done = program("validate", name, GRAPH, "--json", tmp_path / "said.json")
        assert done.status == 0, done
        assert "took" in done.out
        said = json.loads((tmp_path / "said.json").read_text())
        assert {"runtime_seconds", "actual", "errors", "inside_interval"} <= said.keys()
    done = program("run", f"{mine}:f", GRAPH, "--expect", tmp_path / "said.json")
    assert "the first prediction was" in done.out
    program(
        "run", f"{mine}:f", GRAPH, "--arg", "k=2", "--expect", tmp_path / "said.json"
    ).is_refused("is no prediction of mine.py:f")
    out = tmp_path / "run.json"
    done = program("track", f"{mine}:f", GRAPH, "--arg", "k=2", "--history", "none", "--json", out)
    assert json.loads(out.read_text())["phases"]["call"] > 0
    assert "no prediction was made before this run" in done.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("class X(BaseException): pass\n    raise X('q')", "X: q"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        (
            "class X(Exception):\n        def __str__(self): return 3\n    raise X()",
            "X: (without a text)",
        ),
        (
            "faulthandler.disable()\n    os.kill(os.getpid(), 11)",
            "it crashed: SIGSEGV, segmentation fault",
        ),
        ("os.kill(os.getpid(), 40)", "it crashed: signal 40"),
        ("os._exit(3)", "it ended its process: exit status 3"),
    ],
)
@pytest.mark.parametrize("command", ["run", "predict"])  # validate predicts first, and then runs
def test_whatever_a_function_does_is_its_own_failure(program, tmp_path, command, body, said):
    (tmp_path / "f.py").write_text(
        f"import faulthandler, os, time\ndef f(graph):\n    {body}\n    time.sleep(9)\n"
    )
    done = program(command, f"{tmp_path / 'f.py'}:f", GRAPH, "--as", "networkx")
    assert done.status == 1
    assert "f.py:f fails on " in done.err
    assert f"{GRAPH}: " in done.err
    assert said in done.err
    assert "internal error" not in done.err


@pytest.mark.slow
def test_a_function_that_forks_and_returns_is_shown_once(process, tmp_path):
    (tmp_path / "f.py").write_text("import os\ndef f(graph):\n    os.fork()\n    return 1\n")
    command = ["run", f"{tmp_path / 'f.py'}:f", GRAPH, "--as", "networkx", "--history", "none"]
    done = process(*command)
    assert (done.out.count("took"), done.err.count("took")) == (1, 0)


def test_a_function_of_undirected_graphs_says_how_to_read_one(program, tmp_path):
    file = tmp_path / "g.txt"
    file.write_text("0 1\n1 2\n2 0\n")
    done = program("predict", "networkx:triangles", file, "--directed")
    assert done.status == 1
    assert done.err.rstrip().endswith(
        "accepted: the graph without directions (--undirected, directed=False)"
    )
