"""What people expect of any program: completion, hints, plain terminals, pipes that end early."""

from __future__ import annotations

import os
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from predict_graph.builtin.libraries import LIBRARIES
from predict_graph.cli.catalogue import REGISTRIES
from predict_graph.cli.completing import BUILT_IN, graphs, names_of
from predict_graph.durations import remaining
from predict_graph.graph.datasets import dataset_names
from predict_graph.reports.progress import watched


@pytest.mark.parametrize("kind", REGISTRIES)
def test_completion_knows_every_name(kind):
    registry = resolve_name(f"predict_graph.{REGISTRIES[kind]}")
    names = [name for name in registry.names() if registry.origin(name) != "registered"]
    assert sorted(names_of(kind)("")) == sorted(names)
    assert registry.group == f"predict_graph.{kind.replace('-', '_')}"
    assert kind in names_of("kinds")("")
    assert set(BUILT_IN) == set(REGISTRIES)


def test_completion_of_algorithms():
    listed = [f"{library}:{name}" for library, each in LIBRARIES.items() for name in each.names()]
    complete = names_of("algorithms", "on Spark")
    assert set(complete("")) == {*names_of("algorithms")(""), *listed}
    assert complete("graphx:pa") == ["graphx:pageRank"]
    assert complete("page") == ["pagerank"]


def test_completion_of_graphs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web-mine.txt").write_text("0 1\n")
    (tmp_path / "graphs").mkdir()
    assert set(graphs("web-")) >= {"web-NotreDame", "web-mine.txt"}
    assert set(names_of("datasets")("")) == set(dataset_names())
    assert graphs("rma") == ["rmat:"]
    assert graphs("grap") == ["graphs/"]
    assert graphs("away/x") == []
    assert names_of("samplers")("rj,br") == ["rj,brj"]


SHELLS = {
    "bash": {"COMP_WORDS": "predict-graph predict pagerank web-Not", "COMP_CWORD": "3"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "predict-graph predict pagerank web-Not"},
    "fish": {
        "_TYPER_COMPLETE_ARGS": "predict-graph predict pagerank web-Not",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_completion_in_a_shell(shell):
    asked = {"_PREDICT_GRAPH_COMPLETE": f"complete_{shell}", **SHELLS[shell]}
    code = (
        "import sys; from predict_graph.cli import main\n"
        "try: main([])\n"
        "finally: print('heavy', [m for m in ('numpy', 'rich.console') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "web-NotreDame" in done.stdout
    assert "heavy []" in done.stdout
    assert done.stderr == ""
    assert done.returncode == 0


def test_what_remains_is_told_in_plain_lines(monkeypatch):
    import io
    import time

    from rich.console import Console

    monkeypatch.setattr("predict_graph.clock.display.PATIENCE", 0.05)
    file = io.StringIO()
    with watched(Console(file=file, width=80)) as steps:
        steps("sampling [x]", 0.5)
        time.sleep(0.2)
    (line,) = file.getvalue().splitlines()
    assert line.startswith("sampling [x], ")
    assert line.endswith(" left")
    assert remaining(10.0, 0.01) is None
    file = io.StringIO()
    with watched(Console(file=file), quiet=True) as steps:
        steps("sampling", 0.5)
        time.sleep(0.1)
    assert file.getvalue() == ""


def test_help_loads_nothing_heavy():
    code = (
        "import sys, predict_graph.cli.app\n"
        "from predict_graph.cli.commands import NAMES, command_of\n"
        "print([m for m in sys.modules if m.startswith('predict_graph.cli.pre')]); "
        "[*map(command_of, NAMES)]; "
        "print([m for m in ('numpy', 'pandas', 'rich.console', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_what_a_group_and_its_commands_are_is_said_without_much(program):
    assert "import-eventlog" in program("history", "-h").out
    assert program("histori").lines == ["error: No such command 'histori'. Did you mean 'history'?"]
