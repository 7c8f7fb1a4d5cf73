"""Functions on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GRAPH = "barabasi-albert:n=300,m=4,seed=1"


def test_predict_a_function(program: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "said.json"
    done = program(
        "predict",
        "networkx:betweenness_centrality",
        GRAPH,
        "--arg",
        "k=100",
        "--budget",
        "5%",
        "--seed",
        1,
        "--json",
        file,
    )
    assert done.status == 0, done
    assert "will take" in done.out
    said = json.loads(file.read_text())
    assert said["function"]["arguments"] == {"k": 100, "seed": 1}
    assert said["overhead"]["budget"].startswith("5")


def test_a_function_of_a_file_of_ones_own(program: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f(graph):\n    return graph.sum()\n")
    program("predict", f"{file}:f", GRAPH).is_refused("nothing says what mine.py:f takes")
    done = program("predict", f"{file}:f", GRAPH, "--as", "scipy")
    assert done.status == 0, done
    assert "mine.py:f" in done.out


def test_run_a_function(
    program: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = program("run", "networkx:closeness_centrality", GRAPH, "--json", tmp_path / "run.json")
    assert done.status == 0, done
    assert "dict of 300" in done.out
    assert json.loads((tmp_path / "run.json").read_text())["phases"]["call"] > 0


def test_functions_side_by_side(program: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    file = tmp_path / "both.json"
    done = program(
        "compare-functions",
        GRAPH,
        "networkx:closeness_centrality",
        "igraph:closeness",
        "--json",
        file,
    )
    assert done.status == 0, done
    both = json.loads(file.read_text())
    assert [each["function"]["name"] for each in both] == [
        "networkx:closeness_centrality",
        "igraph:closeness",
    ]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["networkx:betweenes", GRAPH], ["no function 'betweenes'"]),
        (["networkx:clustering", GRAPH, "-p", "k=3"], ["--arg NAME=VALUE"]),
        (["networkx:clustering", GRAPH, "--sampler", "rj"], ["--sampler is no option"]),
        (["networkx:clustering", GRAPH, "--threads", "2"], ["--threads is no option"]),
        (["networkx:clustering", GRAPH, "--budget", "much"], ["the budget is 'much'"]),
        (["networkx:clustering", GRAPH, "--as", "pajek"], ["unknown form of a graph 'pajek'"]),
        (["pagerank", GRAPH, "--arg", "k=3"], ["--arg is for functions"]),
        (["networkx:clustering", "nowhere"], ["unknown graph 'nowhere'"]),
    ],
)
def test_wrong_requests(
    program: Callable[..., Any], arguments: list[str], parts: list[str]
) -> None:
    program("predict", *arguments).is_refused(*parts)


def test_a_function_that_fails(program: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import networkx as nx\ndef f(graph: nx.Graph):\n    raise ValueError('no such luck')\n"
    )
    program("predict", f"{file}:f", GRAPH).is_refused("no such luck", status=1)
    program("run", f"{file}:f", GRAPH).is_refused("no such luck", status=1)
