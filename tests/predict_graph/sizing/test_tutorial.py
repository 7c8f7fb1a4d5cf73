"""docs/jobs.md does what it says."""

import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.steps import jobs_take

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[3] / "docs" / "jobs.md"


def test_next_is_followed(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    section = PAGE.read_text(encoding="utf-8").partition("\n## next\n")[2].partition("\n## ")[0]
    (job,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    said = eval(re.search(r"{.*?}", job)[0])  # seconds of a page, by type
    jobs_take(monkeypatch, lambda kind, n: 0.3 + 0.1 * int(n) + 240 * said[kind] / int(n))
    table = re.search(r"^    (machine_type,.*\n(?:    .*\n)+)", section, re.MULTILINE)[1]
    (tmp_path / "workers.csv").write_text(table.replace("    ", ""))
    _, first, *others = re.findall(r"^    (predict-graph (?:.*\\\n)*.*)$", section, re.MULTILINE)
    command = first.replace("\\\n", " ").replace("-- python", f"-- {shlex.quote(sys.executable)}")
    done = program(*shlex.split(command)[1:], status=0)
    assert "best measured (cheapest within 4 s): " in done.out
    assert "stop: " in done.out
    points = pd.read_csv("measured.csv")
    assert 2 <= len(points) <= 12
    assert not points.duplicated(["machine_type", "machines"]).any()
    for one in others:
        done = program(*shlex.split(one.replace("deadline 4s", "deadline 1m"))[1:], status=0)
    said = " ".join(done.out.split())
    assert re.search(r"cheapest done in .* with 90% confidence: \d+ × (small|large)", said)
