"""docs/jobs.md does what it says."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from predict_graph.cli import main

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "jobs.md"


def run(command):
    with pytest.raises(SystemExit) as exit_:
        main(shlex.split(command)[1:])
    return int(exit_.value.code or 0)


def quiet(path):
    """Replace the times by those of a machine that does nothing else, as the tests' does not."""
    points = pd.read_csv(path)
    work = 0.01 * np.ceil(points["scale"] / points["machines"])
    slept = 0.2 + work + 0.01 * points["machines"]
    assert (points["seconds"] > slept).all()
    points.assign(seconds=slept + 0.09).to_csv(path, index=False)


def test_the_tutorial(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    job, _, example = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "job.py").write_text(job)
    section = text.partition("## A job from beginning to end")[2].partition("\n## ")[0]
    commands = re.findall(r"^    (predict-graph (?:.*\\\n)*.*)$", section, re.MULTILINE)
    commands = [command.replace("\\\n", " ") for command in commands]
    assert [command.split()[1] for command in commands] == ["design", "collect", "fit", "plan"]
    for command in commands:
        assert run(command.replace("-- python", f"-- {shlex.quote(sys.executable)}")) == 0
        if command.split()[1] == "collect":
            quiet(tmp_path / "points.csv")
    said = capsys.readouterr().out
    assert "12 runs of 12 experiments" in said
    assert "12 points measured" in said
    assert "the model fits" in said
    chosen = int(re.search(r"cheapest done in 2 s with 90% confidence: (\d+) machines", said)[1])
    found: dict = {}
    exec(example, found)
    assert found["made"].choice.configuration.machines == chosen
    assert chosen in (14, 15)  # 0.29 + 20/m + 0.01 m; 15 with the noise of the page


def test_next_is_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text(encoding="utf-8").partition("\n## next\n")[2].partition("\n## ")[0]
    (job,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "crawl.py").write_text(job.replace("2000", "400"))
    table = re.search(r"^    (machine_type,.*\n(?:    .*\n)+)", section, re.MULTILINE)[1]
    (tmp_path / "workers.csv").write_text(table.replace("    ", ""))
    _, command = re.findall(r"^    (predict-graph (?:.*\\\n)*.*)$", section, re.MULTILINE)
    command = command.replace("\\\n", " ").replace("--run", "--timeout 20s --run")
    assert run(command.replace("-- python", f"-- {shlex.quote(sys.executable)}")) == 0
    said = capsys.readouterr().out
    assert "best measured (cheapest within 2 s): " in said
    assert "stop: " in said
    points = pd.read_csv("measured.csv")
    assert 2 <= len(points) <= 14
    assert not points.duplicated(["machine_type", "machines"]).any()
