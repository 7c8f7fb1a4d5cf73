"""What a function does in its process stays there."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import psutil
import pytest

from predict_graph.functions.child import Limits, run_in_child


def graph() -> nx.Graph:
    return nx.path_graph(50)


def test_a_function_that_prints_reads_and_changes_the_graph(capfd: Any) -> None:
    mine = graph()

    def noisy(given: nx.Graph) -> None:
        given.remove_node(0)
        print("much" * 1000)
        os.write(1, b"more")
        assert sys.stdin.read() == ""

    assert run_in_child(lambda: mine, noisy, Limits(wall=20.0)).done
    assert len(mine) == 50
    assert capfd.readouterr().out == ""


def test_an_error_has_its_line() -> None:
    def fails(given: nx.Graph) -> None:
        raise KeyError("weight")

    run = run_in_child(graph, fails, Limits(wall=20.0))
    assert run.state == "error"
    assert "KeyError: 'weight'" in run.sentence
    assert "test_child.py" in run.sentence


def test_a_function_that_hangs_is_stopped_by_the_clock() -> None:
    run = run_in_child(graph, lambda given: time.sleep(600), Limits(wall=0.5))
    assert run.state == "time"
    assert run.wall < 300.0


def test_memory_is_limited_and_measured() -> None:
    def grows(given: nx.Graph) -> bytearray:
        held = bytearray(64 * 2**20)
        time.sleep(0.01)
        return held

    run = run_in_child(graph, grows, Limits(wall=20.0))
    assert 60 * 2**20 < run.peak_bytes < 80 * 2**20

    def bursts(given: nx.Graph) -> None:
        held = []
        while True:
            held.append(bytearray(8 * 2**20))
            time.sleep(0.002)

    stopped = run_in_child(graph, bursts, Limits(wall=20.0, memory=600 * 2**20))
    assert stopped.state == "memory"


def test_what_a_function_starts_ends_with_it() -> None:
    reader, writer = os.pipe()

    def forks(given: nx.Graph) -> None:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)

    assert run_in_child(graph, forks, Limits(wall=20.0)).done
    os.close(writer)
    started = time.monotonic()
    assert os.read(reader, 1) == b""  # nobody holds the other end any more
    os.close(reader)
    assert time.monotonic() - started < 300.0


def test_an_iterator_is_drawn_to_its_end() -> None:
    seen: list[int] = []

    def lazy(given: nx.Graph) -> Any:
        return (seen.append(vertex) for vertex in given)

    run = run_in_child(graph, lazy, Limits(wall=20.0))
    assert run.done
    assert run.generator
    assert seen == []


def test_what_the_parent_has_left_free_hides_nothing_that_a_call_takes() -> None:
    many = [{"number": number} for number in range(100_000)]
    kept = many[::100]  # so that Python can give nothing back
    del many
    run = run_in_child(lambda: None, lambda _: len([{"number": n} for n in range(20_000)]))
    assert run.done
    assert len(kept) == 1000
    assert run.peak_bytes > 0.7 * 20_000 * sys.getsizeof({"number": 1})


PROGRAM = """
import os
import signal
from predict_graph.functions.child import run_in_child

def endless(graph):
    print(os.getpid(), flush=True, file=out)
    while True:
        pass

out = open("{path}", "w")
run_in_child(lambda: None, endless)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux ends it")
def test_a_child_ends_with_a_parent_that_is_killed(tmp_path):
    file = tmp_path / "child"
    parent = subprocess.Popen([sys.executable, "-c", PROGRAM.format(path=file)])
    deadline = time.monotonic() + 600.0
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child = int(file.read_text())
    assert psutil.pid_exists(child)
    parent.kill()
    parent.wait()
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_function_runs_under_the_garbage_collection_of_its_caller() -> None:
    ordinary = gc.get_threshold()
    mine = (5000, 5, 5)

    def looks(given: nx.Graph) -> None:
        assert gc.get_threshold() == mine

    gc.set_threshold(*mine)
    try:
        run = run_in_child(graph, looks, Limits(wall=20.0))
    finally:
        gc.set_threshold(*ordinary)
    assert run.done, run.sentence


class _OddError(Exception):
    """Its text cannot be read."""

    def __str__(self) -> str:
        raise SystemExit


class _Own(BaseException):
    """No Exception."""


def _forks_and_returns(given: nx.Graph) -> int:
    return os.fork()


def _forks_and_raises(given: nx.Graph) -> None:
    if os.fork() == 0:
        raise ValueError


@pytest.mark.parametrize(
    ("raised", "sentence"),
    [
        (_OddError(), "_OddError: (without a text)"),
        (_Own("why"), "_Own: why"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_whatever_a_function_raises_is_named(raised: BaseException, sentence: str) -> None:
    def fails(given: nx.Graph) -> None:
        raise raised

    run = run_in_child(graph, fails, Limits(wall=20.0))
    assert run.state == "error"
    assert run.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (signal.SIGSEGV, "it crashed: SIGSEGV, segmentation fault"),
        (signal.SIGKILL, "it crashed: SIGKILL, killed"),
        (signal.SIGRTMIN + 6, f"it crashed: signal {signal.SIGRTMIN + 6}, real-time signal 6"),
    ],
)
def test_a_function_that_crashes_is_named_as_such(number: int, sentence: str) -> None:
    def crashes(given: nx.Graph) -> None:
        faulthandler.disable()
        os.kill(os.getpid(), number)
        time.sleep(20.0)

    run = run_in_child(graph, crashes, Limits(wall=20.0))
    assert run.state == "died"
    assert run.sentence == sentence


def test_a_function_that_ends_its_process_is_named_as_such() -> None:
    run = run_in_child(graph, lambda given: os._exit(3), Limits(wall=20.0))
    assert (run.state, run.sentence) == ("died", "it ended its process: exit status 3")


@pytest.mark.parametrize("forks", [_forks_and_returns, _forks_and_raises])
def test_a_process_that_a_function_forks_sends_nothing(forks: Callable[..., Any]) -> None:
    for _ in range(5):  # two that wrote at once would be mixed up now and then
        run = run_in_child(graph, forks, Limits(wall=20.0))
        assert run.done
