"""What a command or a function has started ends with it, in whatever session it is."""

import itertools
import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import resource_tracker, shared_memory

import psutil
import pytest

from predict_graph import processes
from predict_graph.functions.child import Limits, run_in_child
from predict_graph.sizing.measuring.collecting import Job
from predict_graph.sizing.tasks.watching import watch
from tests.python import wait_until

pytestmark = [
    pytest.mark.slow,  # starts processes
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a subreaper"),
]


@pytest.fixture(autouse=True)
def little_grace(monkeypatch):
    """Kill soon what does not end when it is asked to."""
    monkeypatch.setattr(processes._end_the_rest, "__defaults__", (0.5,))


DAEMON = (sys.executable, "-c", "import time; time.sleep(300)")


def noted(file, process):
    file.write_text(file.read_text() + f"{process}\n" if file.exists() else f"{process}\n")


def in_a_new_session(file):
    noted(file, subprocess.Popen(DAEMON, start_new_session=True).pid)


def forked_twice(file):
    if os.fork() == 0:
        os.setsid()
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(300)
        noted(file, process)
        os._exit(0)
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"))


def end_of(file):
    """Wait until none of the processes is there any more; a slow machine may have begun none."""
    numbers = [int(number) for number in file.read_text().split()] if file.exists() else []
    wait_until(lambda: not any(map(psutil.pid_exists, numbers)), 200.0)  # they sleep longer


def returns(_): ...


def sleeps(_):
    time.sleep(300)


def crashes(_):
    os.kill(os.getpid(), signal.SIGUSR1)


ENDS = [(returns, "done"), (sleeps, "time"), (crashes, "died")]


@pytest.mark.parametrize("start", [in_a_new_session, forked_twice])
@pytest.mark.parametrize(("then", "state"), ENDS)
def test_what_a_function_started_ends_with_it(tmp_path, start, then, state):
    file = tmp_path / "processes"

    def call(_):
        start(file)
        then(None)

    run = run_in_child(lambda: None, call, Limits(seconds=2.0 if state == "time" else 60.0))
    assert run.state == state
    assert "SIGUSR1" in run.sentence or state != "died"
    end_of(file)


def test_what_a_function_started_ends_with_its_grandparent(tmp_path):
    file = tmp_path / "processes"
    caller = os.fork()
    if caller == 0:
        run_in_child(lambda: None, lambda _: (forked_twice(file), sleeps(None)))
        os._exit(0)
    wait_until(file.exists)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    end_of(file)


def test_shared_memory_of_a_function_is_freed():
    resource_tracker.ensure_running()  # of this process, which does not end
    name = f"predict-graph-test-{os.getpid()}"
    run = run_in_child(
        lambda: None, lambda _: shared_memory.SharedMemory(name, create=True, size=1000).close()
    )
    assert run.done
    with pytest.raises(FileNotFoundError):
        shared_memory.SharedMemory(name)


LEAVES_A_DAEMON = (
    "import subprocess, sys, time; "
    "print(subprocess.Popen(sys.argv[2:], start_new_session=True).pid, file=open(sys.argv[1], 'w'),"
    " flush=True); time.sleep(float({seconds}))"
)


def leaving(file, seconds):
    return [sys.executable, "-c", LEAVES_A_DAEMON.format(seconds=seconds), str(file), *DAEMON]


def test_a_timeout_ends_what_a_job_started_in_another_session(tmp_path):
    file = tmp_path / "process"
    assert Job(leaving(file, 300.0), timeout=2.0).run().outcome == "timeout"
    end_of(file)


def test_a_job_that_ends_may_leave_a_daemon(tmp_path):
    file = tmp_path / "process"
    found = Job(leaving(file, 0.0), timeout=60.0).run()
    assert (found.outcome, found.exit_status) == ("ok", 0)
    daemon = psutil.Process(int(file.read_text()))
    assert daemon.is_running()
    daemon.kill()


def test_what_a_profiled_command_leaves_ends_with_it(tmp_path):
    file = tmp_path / "process"
    assert watch(leaving(file, 0.0)).exit_status == 0
    end_of(file)


@pytest.mark.parametrize("status", [3, -signal.SIGKILL, -signal.SIGTERM])
def test_who_supervises_ends_as_its_child(status):
    code = (
        f"import os, sys; sys.exit({status}) if {status} > 0 else os.kill(os.getpid(), {-status})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        preexec_fn=partial(processes.supervise, always=True),  # noqa: PLW1509
    )
    assert process.wait() == status


def test_a_command_that_cannot_be_run_is_said_to():
    found = Job(["/no/such/command"]).run()
    assert (found.outcome, found.exit_status) == ("failed", 127)


def test_an_end_that_comes_just_before_the_wait_is_not_lost(monkeypatch, tmp_path):
    usual = processes._end_with

    def late(parent, number):
        usual(parent, number)
        if number == processes.ENDING:
            (tmp_path / "late").touch()
            # One instruction of a second, at whose end no handler runs.
            return 20_000_000 in itertools.count()

    monkeypatch.setattr(processes, "_end_with", late)
    child = os.fork()
    if child == 0:
        processes.supervise(always=True)
        time.sleep(20)
        os._exit(0)
    wait_until((tmp_path / "late").exists)
    os.kill(child, processes.ENDING)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
