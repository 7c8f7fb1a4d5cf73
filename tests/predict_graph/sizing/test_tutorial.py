"""docs/jobs.md and the tutorial on machines do what they say."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from predict_graph.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "jobs.md"
TUTORIAL = ROOT / "docs/tutorials/machines.md"


def run(command):
    with pytest.raises(SystemExit) as exit_:
        main(shlex.split(command)[1:])
    return int(exit_.value.code or 0)


def slept(points):
    """Return the seconds that the job of the tutorial sleeps, on a machine that does nothing else.

    The machine of the tests does other things.
    """
    work = 0.01 * np.ceil(points["scale"] / points["machines"])
    return 0.2 + work + 0.01 * points["machines"]


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
    design, collect, *others = (
        command.replace("-- python", f"-- {shlex.quote(sys.executable)}") for command in commands
    )
    assert run(design) == 0
    whole = pd.read_csv("design.csv")
    # All of it is measured where the page is run: tests/test_docs.py.
    whole.iloc[[1, -1]].to_csv("design.csv", index=False)
    assert run(collect) == 0
    measured = pd.read_csv("points.csv")
    assert (measured["seconds"] > slept(measured)).all()
    whole.assign(seconds=slept(whole) + 0.09).to_csv("points.csv", index=False)
    for command in others:
        assert run(command) == 0
    said = capsys.readouterr().out
    assert "10 runs of 10 experiments" in said
    assert "2 points measured" in said
    assert "the model fits" in said
    chosen = int(re.search(r"cheapest done in 6 s with 90% confidence: (\d+) machines", said)[1])
    found: dict = {}
    exec(example, found)
    assert found["made"].choice.configuration.machines == chosen
    assert chosen in (4, 5)  # the first with 0.29 + 20/m + 0.01 m below 6; 5 with some noise


def test_next_is_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text(encoding="utf-8").partition("\n## next\n")[2].partition("\n## ")[0]
    (job,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "fetch.py").write_text(job)
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
    assert re.search(r"cheapest done in .* with 90% confidence: \d+ × (small|large)", said)
