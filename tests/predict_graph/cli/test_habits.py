"""What people expect of any program: completion, hints, plain terminals, pipes that end early."""

import io
import os
from unittest.mock import Mock

import pytest
from rich.console import Console

from predict_graph.clock.display import Display
from predict_graph.clock.moment import Moment
from tests.python import python


@pytest.mark.slow
def test_completion_in_a_shell():
    asked = {"_PREDICT_GRAPH_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    asked["COMP_WORDS"] = "predict-graph compare-s"
    code = (
        "import sys; from predict_graph.cli import main\n"
        "try: main([])\n"
        "finally: print('heavy', [m for m in ('numpy', 'rich.console') if m in sys.modules])"
    )
    done = python("-c", code, env=os.environ | asked)
    assert all(each in done.stdout for each in ("compare-samplers", "heavy []"))
    assert done.stderr == ""


def test_what_remains_is_told_in_plain_lines(monkeypatch):
    now, file = Mock(side_effect=(0.0, 0.0, 1.0, 2.0, 2.0)), io.StringIO()
    monkeypatch.setattr("predict_graph.clock.display.time", Mock(monotonic=now))
    display = Display(Console(file=file, width=80), lines=False)
    display.step("sampling", 0.0)
    display.step("sampling [x]", 0.05)
    display._ended = Mock(wait=Mock(side_effect=(False, True)))
    display._write()
    assert file.getvalue() == "sampling [x], 2 s elapsed, about 18 s left\n"


@pytest.mark.parametrize(("quiet", "term"), [(False, "xterm"), (True, "xterm"), (False, "dumb")])
def test_a_bar_obeys_no_name_and_has_the_time_of_the_run(quiet, term):
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=28, _environ={"TERM": term})
    with Display(console, quiet=quiet) as display:
        display.show(Moment(3600.0, 2.0, algorithm="a\x9b"))
        lines = display._lines.is_alive()
    shown = [each in file.getvalue() for each in ("a\\x9b: superstep 2", "1:00:00")]
    assert (shown, lines) == (2 * [not (quiet or lines)], term == "dumb")


def test_what_a_group_and_its_commands_are_is_said_without_much(program):
    assert "import-eventlog" in program("history", "-h").out
    assert program("histori").lines == ["error: No such command 'histori'. Did you mean 'history'?"]
