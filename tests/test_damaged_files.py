"""Damaged files: a short campaign over all readers, files that were finds, and a full disk."""

import os
import shutil
from pathlib import Path

import pytest

from benchmarks.robustness.campaign import BAD, run
from benchmarks.robustness.formats import FORMATS
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph, save_graph
from tests.python import python

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


def reader_of(path):
    """Return the reader of a file: of the format that has its suffix, predictions for JSON."""
    readers = {Path(form.file).suffix: form.read for form in FORMATS}
    readers[".json"] = next(form.read for form in FORMATS if form.name == "prediction")
    return readers[path.suffix]


@pytest.mark.parametrize(
    "path",
    sorted(path for path in FINDS.iterdir() if path.suffix != ".properties"),
    ids=lambda path: path.name,
)
def test_finds(path, tmp_path):
    place = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, place)
    else:
        shutil.copy(path, place)
    if path.suffix == ".graph":
        shutil.copy(path.with_suffix(".properties"), tmp_path)
    with pytest.raises(RequestError) as caught:
        reader_of(place)(place)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of a process")
def test_a_file_that_may_not_grow(tmp_path):
    """A real fault, of the system: the limit of the size of a file, reached half way."""
    save_graph(check_graph("cycle:n=9"), tmp_path / "g.npz")
    program = (
        "import resource, signal, sys\n"
        "from predict_graph.errors import JobError\n"
        "from predict_graph.graph import check_graph, save_graph\n"
        "graph = check_graph('cycle:n=99999')\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    save_graph(graph, sys.argv[1])\n"
        "except JobError as error:\n"
        "    print(error)\n"
    )
    done = python("-c", program, tmp_path / "g.npz")
    assert "writing" in done.stdout, done.stderr
    assert check_graph(tmp_path / "g.npz").vertices == 9
    assert os.listdir(tmp_path) == ["g.npz"]
