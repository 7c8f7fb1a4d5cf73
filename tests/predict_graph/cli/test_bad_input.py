"""A wrong request or a failed job: one sentence, its exit status, nothing half written."""

import errno
import json
import os

import pytest

GRAPH = "barabasi-albert:n=300,m=3,seed=1"


def is_refused(result, *parts, status=2):
    assert result.status == status, result
    assert len(result.lines) == 1, result.err
    assert result.err.startswith("error: ")
    assert "internal error" not in result.err
    for part in parts:
        assert str(part) in result.err
    assert result.out == ""


FILES = {
    "text": ("graph.txt", b"0 1\n" * 20_000 + b"alpha 2\n", [":20001", "alpha", "--ids string"]),
    "no gzip at all": ("graph.txt.gz", b"0 1\n", ["graph.txt.gz"]),
    "an unknown ending": ("graph.doc", b"0 1\n", ["graph.doc", "accepted"]),
}


@pytest.mark.parametrize("title", FILES)
def test_bad_files(program, tmp_path, title):
    name, content, parts = FILES[title]
    path = tmp_path / name
    path.write_bytes(content)
    target = tmp_path / "out.json"
    is_refused(program("predict", "pagerank", path, "--json", target), name, *parts)
    assert not target.exists()


def test_one_vertex_with_a_loop_is_a_graph(program, tmp_path):
    path = tmp_path / "loop.txt"
    path.write_text("0 0\n")
    result = program("validate", "pagerank", path, "--seed", 1)
    assert result.status == 0
    assert "full local run" in result.out


OPTIONS = {
    "a ratio in words, joined": (["--ratio=half"], ["--ratio", "'half'"]),
    "train ratios in words": (["--train-ratios", "a,b"], ["'a,b'"]),
    "a sampler": (["--sampler", "jump"], ["unknown sampler 'jump'", "brj", "mhrw", "rj"]),
    "a method": (
        ["--method", "baseline"],
        ["unknown method for pagerank 'baseline'", "completion", "published"],
    ),
    "a parameter": (["-p", "speed=1"], ["unknown parameter of pagerank 'speed'", "damping"]),
    "a parameter without a value": (["-p", "damping"], ["'damping'", "NAME=VALUE"]),
    "a parameter twice": (["-p", "damping=.8", "-p", "damping=.9"], ["damping is given twice"]),
    "an option": (["--sped", "1"], ["--sped"]),
}


@pytest.mark.parametrize("title", OPTIONS)
def test_bad_options(program, tmp_path, title):
    arguments, parts = OPTIONS[title]
    target = tmp_path / "out.json"
    target.write_text("old")
    is_refused(program("predict", "pagerank", GRAPH, "--json", target, *arguments), *parts)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


COMMANDS = {
    "an algorithm": (
        ["predict", "pageranks", GRAPH],
        ["unknown algorithm 'pageranks'", "pagerank"],
    ),
    "a graph": (["predict", "pagerank", "no-such"], ["unknown graph 'no-such'", "rmat"]),
    "a generator's parameter": (["run", "pagerank", "rmat:size=3"], ["'size'", "scale"]),
    "a command": (["pedict"], ["pedict"]),
    "a missing argument": (["predict", "pagerank"], ["GRAPH"]),
    "a kind": (["list", "things"], ["'things'", "samplers", "cost-models"]),
    "a dataset": (["datasets", "path", "web-Nowhere"], ["'web-Nowhere'", "web-NotreDame"]),
    "a seed of a run": (["run", "pagerank", "rmat:scale=6", "--seed", "-1"], ["seed is -1"]),
    "a sampler to compare": (["compare-samplers", GRAPH, "--samplers", "rj,x"], ["sampler 'x'"]),
    "an ending of a sample": (["sample", GRAPH, "--out", "s.doc"], ["s.doc", ".parquet"]),
    "an ending of a result": (["run", "pagerank", GRAPH, "--out", "r.doc"], ["r.doc", ".csv"]),
    "an ending of a picture": (
        ["predict", "pagerank", GRAPH, "--plot", "p.doc"],
        ["p.doc", ".png"],
    ),
    "a history of none": (["history", "list", "--history", "none"], ["'none'"]),
    "no such run": (["history", "show", "9", "--history", "h.sqlite"], ["9", "h.sqlite"]),
    "an age that is no number": (
        ["history", "prune", "--older-than", "nan", "--history", "h.sqlite"],
        ["age", "nan"],
    ),
    "nothing to prune by": (["history", "prune", "--history", "h.sqlite"], ["prun"]),
    "no file to import": (["history", "import", "i.csv", "--history", "h.sqlite"], ["i.csv"]),
    "an ending of an export": (
        ["history", "export", "e.doc", "--history", "h.sqlite"],
        ["e.doc", ".parquet"],
    ),
}


@pytest.mark.parametrize("title", COMMANDS)
def test_bad_commands(program, tmp_path, monkeypatch, title):
    monkeypatch.chdir(tmp_path)
    arguments, parts = COMMANDS[title]
    is_refused(program(*arguments), *parts)
    assert [name for name in os.listdir(tmp_path) if not name.startswith("h.sqlite")] == []


WRITERS = {
    "json": ["predict", "pagerank", GRAPH, "--json"],
    "json of a run": ["run", "pagerank", GRAPH, "--json"],
    "json of a comparison": ["validate", "pagerank", GRAPH, "--json"],
    "a picture": ["predict", "pagerank", GRAPH, "--plot"],
    "a result": ["run", "pagerank", GRAPH, "--out"],
    "a sample": ["sample", GRAPH, "--out"],
}
ENDINGS = {"a picture": ".png", "a result": ".csv", "a sample": ".txt"}


@pytest.mark.parametrize("title", WRITERS)
def test_unwritable_output(program, tmp_path, title):
    name = "out" + ENDINGS.get(title, ".json")
    away = tmp_path / "away" / name
    is_refused(program(*WRITERS[title], away), away, f"no folder {tmp_path / 'away'}")
    folder = tmp_path / name
    folder.mkdir()
    is_refused(program(*WRITERS[title], folder), folder, "it is a folder")
    assert os.listdir(tmp_path) == [name]
    assert os.listdir(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("title", WRITERS)
def test_a_full_disk(program, tmp_path, monkeypatch, title):
    """The last step of every writer fails as it does on a full disk."""

    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source))

    path = tmp_path / ("out" + ENDINGS.get(title, ".json"))
    # Once for real: compiled code that is not in its cache yet would be written by the same call.
    assert program(*WRITERS[title], path, "--seed", 1).status == 0
    path.write_text("old")
    monkeypatch.setattr(os, "replace", full)
    result = program(*WRITERS[title], path, "--seed", 1)
    assert result.status == 1
    assert [line for line in result.lines if line] == [
        f"error: writing {path} failed: No space left on device"
    ]
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


# History


def test_debug_shows_the_traceback(program):
    result = program("predict", "pagerank", "nothing", "--debug")
    assert result.status == 2
    assert "Traceback" in result.err
    assert result.lines[-1].startswith("error: unknown graph 'nothing'")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ZeroDivisionError("somewhere\nin two lines"),
            "internal error, please report it: ZeroDivisionError: somewhere in two lines",
        ),
        (MemoryError(), "there is not enough memory"),
        (MemoryError("for 8 EiB"), "there is not enough memory: for 8 EiB"),
    ],
)
def test_an_error_inside_is_told_in_one_line(program, monkeypatch, error, said):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("predict_graph.prediction.pipeline.estimate_iterations", fail)
    result = program("predict", "pagerank", GRAPH, "--method", "completion")
    assert result.status == 1
    assert result.lines == [f"error: {said}"]


@pytest.mark.parametrize("command", ["run", "predict", "validate"])
def test_an_answer_is_given_though_the_history_cannot_be_written(program, tmp_path, command):
    (tmp_path / "file").touch()
    graph, out = "barabasi-albert:n=300,m=2,seed=1", tmp_path / "out.json"
    more = ("--history", tmp_path / "file" / "h.sqlite", "--json", out)
    result = program(command, "pagerank", graph, *more)
    assert result.status == 0, result
    assert json.loads(out.read_text())["iterations"]
    if command != "predict":  # which may do without sample runs
        assert "could not be written" in result.err
        assert "the run is not kept" in result.err


def test_odd_names_of_files_are_no_internal_errors(program, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "design.csv").write_text("machines\n1\n")
    collect = ("collect", "--design", tmp_path / "design.csv", "--out", tmp_path / "points.csv")
    program(*collect, "--logs", "", "--", "true", "{machines}")
    is_refused(program("list", "functions", "--plugin", tmp_path / "loop"), "cannot be loaded")
    is_refused(program("predict", "~nosuch/f.py:f", GRAPH), "~nosuch/f.py cannot be loaded")
    assert program("history", "list", "--history", "~nosuch/h.sqlite").status == 0


@pytest.mark.parametrize("words", [["show"], ["list", "--limit"], ["prune", "--keep"]])
def test_a_history_and_a_number_beyond_64_bits(program, tmp_path, words):
    kept = tmp_path / "h.sqlite"
    assert program("run", "pagerank", GRAPH, "--history", kept).status == 0
    is_refused(program("history", *words, "9" * 20, "--history", kept), "64 bits")
