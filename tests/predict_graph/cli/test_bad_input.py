"""A wrong request or a failed job: one sentence, its exit status, nothing half written."""

import pytest

GRAPH = "barabasi-albert:n=300,m=3,seed=1"


ERRORS = [
    (
        ZeroDivisionError("somewhere\nin two lines"),
        "internal error, please report it: ZeroDivisionError: somewhere in two lines",
    ),
    (MemoryError(), "there is not enough memory"),
    (MemoryError("for 8 EiB"), "there is not enough memory: for 8 EiB"),
]


@pytest.mark.parametrize(("error", "said"), ERRORS)
def test_an_error_inside_is_told_in_one_line(program, monkeypatch, error, said):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("predict_graph.iterations.estimate_iterations", fail)
    result = program("predict", "pagerank", GRAPH, "--method", "completion", status=1)
    assert result.lines == [f"error: {said}"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "predict", "validate"])
def test_an_answer_is_given_though_the_history_cannot_be_written(program, tmp_path, command):
    (tmp_path / "file").touch()
    more = ("--history", tmp_path / "file" / "h.sqlite", "--json", "-")
    result = program(command, "pagerank", "barabasi-albert:n=300,m=2,seed=1", *more)
    assert result.answer["iterations"]
    if command != "predict":  # which may do without sample runs
        assert "could not be written" in result.err
        assert "the run is not kept" in result.err


def test_odd_names_of_files_are_no_internal_errors(program, folder):
    (folder / "design.csv").write_text("machines\n1\n")
    collect = ("collect", "--design", "design.csv", "--logs", "", "--", "true", "{machines}")
    program(*collect, status=0)
    program("history", "list", "--history", "~nosuch/h.sqlite", status=0)
