"""Ctrl-C: exit status 130, one line, nothing left behind."""

import os
import signal
import sys
import time

import numba
import numpy as np
import psutil
import pytest
from numba.core import event

from predict_graph.cli.app import _interrupts_seen
from tests.python import started, wait_until

pytestmark = [pytest.mark.usefixtures("interruptible"), pytest.mark.slow]

PROGRAM = ("-m", "predict_graph")
# A long path mixes slowly: with next to no jumps this would run for hours.
ENDLESS = ["pagerank", "path:n=300000", "-p", "damping=0.999999", "-p", "tolerance=1e-300"]
LIMIT = ["-p", "max_iterations=1000000000"]


def is_interrupted(process, before, folder, *progress):
    """Check how an interrupted program ends."""
    out, err = process.communicate(timeout=600)
    # Python may end itself by the signal, which a shell calls 130 too.
    assert process.returncode in (130, -signal.SIGINT)
    *lines, last = [line for line in (before + err).splitlines() if line]
    assert last == "error: interrupted; nothing is half written"
    assert all(any(word in line for word in progress) for line in lines)
    assert (out, os.listdir(folder)) == ("", [])


def test_a_run_is_interrupted(tmp_path):
    arguments = ["run", *ENDLESS, *LIMIT, "--out", "ranks.csv", "--json", "out.json"]
    with started(*PROGRAM, *arguments, cwd=tmp_path) as process:
        first = process.stderr.readline()
        assert process.poll() is None, first + process.stderr.read()
        process.send_signal(signal.SIGINT)
        # How far it came by then is the machine's affair.
        is_interrupted(
            process, first, tmp_path, "starting", "compiling", "setting up", "pagerank: "
        )


def test_the_real_run_of_a_validation_is_interrupted(tmp_path):
    arguments = ["validate", "pagerank", "rmat:scale=18,edge_factor=8,seed=1", "--json", "o.json"]
    with started(*PROGRAM, *arguments, cwd=tmp_path, start_new_session=True) as process:
        runs, program = [], psutil.Process(process.pid)
        while not runs:
            assert process.poll() is None, process.communicate()
            runs = [child for child in program.children() if is_the_run(child)]
        # A terminal sends the interrupt to all processes of the program.
        os.killpg(process.pid, signal.SIGINT)
        is_interrupted(process, "", tmp_path, "elapsed")
        wait_until(lambda: not any(map(is_the_run, runs)), 60.0)


def test_an_interrupt_waits_until_code_is_compiled():
    def kernel(values):
        return np.sort(values)[: len(values) // 2].sum()

    class Asking(event.Listener):
        asked = False

        def on_start(self, event):
            if not self.asked:
                self.asked = True
                os.kill(os.getpid(), signal.SIGINT)

        def on_end(self, event):
            pass

    asking = Asking()

    def interrupted():
        with _interrupts_seen(), event.install_listener("numba:compile", asking):
            asking.found = numba.njit(kernel)(np.arange(6.0))
            time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert asking.found == 3.0


def test_an_interrupt_around_a_fork_is_not_lost():
    after = {"__name__": "logging"}  # python ignores what such a function raises
    exec("def unlocked(raised):\n    raised(2)\n    return True", after)
    called = []

    def interrupted():
        with _interrupts_seen():
            called.append(after["unlocked"](signal.raise_signal))
            time.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert called == [True]


def is_the_run(process):
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:
        return False


class Impatient:
    """Presses Ctrl-C while the program is being imported."""

    def find_spec(self, name, path=None, target=None):
        if name == "predict_graph.cli.app":
            raise KeyboardInterrupt


def test_importing_is_interrupted(program, monkeypatch):
    monkeypatch.delitem(sys.modules, "predict_graph.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    result = program("list", "samplers", status=130)
    assert result.lines == ["error: interrupted; nothing is half written"]


@pytest.mark.parametrize("command", ["predict", "run", "validate"])
def test_any_moment_of_a_command_is_interrupted(program, monkeypatch, written, tmp_path, command):
    def impatient(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("predict_graph.engines.local.engine.Tally", impatient)
    path = written("old", "out.json")
    more = () if command == "run" else ("--method", "completion")
    result = program(command, "pagerank", "star:n=50", "--json", path, *more, status=130)
    assert result.lines == ["error: interrupted; nothing is half written"]
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["out.json"])
