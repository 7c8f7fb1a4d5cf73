"""Damaged files: a short campaign over all readers, and files that were finds."""

import shutil
from pathlib import Path

import pytest

from benchmarks.robustness.campaign import BAD, run
from benchmarks.robustness.formats import FORMATS
from tests.refusals import refused

FINDS = Path(__file__).parent / "finds"


@pytest.mark.slow
def test_a_short_campaign():
    """The long one is python -m benchmarks.robustness."""
    cases = [(form, number) for number in range(10) for form in range(len(FORMATS))]
    said = []
    assert run(cases, 20, lambda tallies, finds, used: said.append(tallies)) == []
    tallies = said[-1]
    assert sorted(tallies) == list(range(len(FORMATS)))
    assert sum(tally.outcomes["refused"] for tally in tallies.values()) > len(cases) / 2
    assert sum(tally.outcomes["read"] for tally in tallies.values()) > len(FORMATS)
    assert not set(BAD) & {name for tally in tallies.values() for name in tally.outcomes}


READERS = {Path(form.file).suffix: form.read for form in FORMATS}
READERS[".json"] = next(form.read for form in FORMATS if form.name == "prediction")
FOUND = sorted(path for path in FINDS.iterdir() if path.suffix != ".properties")


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_finds(path, tmp_path):
    place = Path(shutil.copy(path, tmp_path))
    if path.suffix == ".graph":
        shutil.copy(path.with_suffix(".properties"), tmp_path)
    assert len(refused(None, READERS[path.suffix], place)) < 2000
