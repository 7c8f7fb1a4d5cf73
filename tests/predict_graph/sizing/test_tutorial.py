"""docs/jobs.md and the tutorial on machines do what they say."""

import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.cpu_quota import CannotCapError, CpuQuota
from predict_graph.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "jobs.md"
TUTORIAL = ROOT / "docs/tutorials/machines.md"


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
    text = TUTORIAL.read_text(encoding="utf-8")
    (tmp_path / "job.py").write_text(
        re.search(r"```python\n# job.py\n(.*?)```", text, re.DOTALL)[1]
    )
    *_, example = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = re.findall(r"^\$ (predict-graph .*)$", text, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["design", "collect", "fit", "plan"]
    for command in commands:
        assert run(command.replace("-- python", f"-- {shlex.quote(sys.executable)}")) == 0
        if command.split()[1] == "collect":
            quiet(tmp_path / "points.csv")
    said = capsys.readouterr().out
    assert "10 runs of 10 experiments" in said
    assert "10 points measured" in said
    assert "the model fits" in said
    chosen = int(re.search(r"cheapest done in 3 s with 90% confidence: (\d+) machines", said)[1])
    found: dict = {}
    exec(example, found)
    assert found["made"].choice.configuration.machines == chosen
    assert chosen in (8, 9)  # the first with 0.29 + 20/m + 0.01 m below 3; 9 with some noise


def test_next_is_followed(tmp_path, monkeypatch, capsys):
    try:
        quota = CpuQuota(f"tutorial-{os.getpid()}")
    except CannotCapError as error:
        pytest.skip(str(error))
    quota.remove()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    section = PAGE.read_text(encoding="utf-8").partition("\n## next\n")[2].partition("\n## ")[0]
    (job,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "pack.py").write_text(job)
    table = re.search(r"^    (machine_type,.*\n(?:    .*\n)+)", section, re.MULTILINE)[1]
    (tmp_path / "workers.csv").write_text(table.replace("    ", ""))
    _, first, *others = re.findall(r"^    (predict-graph (?:.*\\\n)*.*)$", section, re.MULTILINE)
    # A machine that is busy with other tests may take twice as long.
    command = first.replace("\\\n", " ").replace("deadline=4s", "deadline=12s")
    assert run(command.replace("-- python", f"-- {shlex.quote(sys.executable)}")) == 0
    said = capsys.readouterr().out
    assert "best measured (cheapest within 12 s): " in said
    assert "stop: " in said
    points = pd.read_csv("measured.csv")
    assert 2 <= len(points) <= 12
    assert not points.duplicated(["machine_type", "machines"]).any()
    for one in others:
        assert run(one.replace("deadline 4s", "deadline 1m")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "quick" in said
