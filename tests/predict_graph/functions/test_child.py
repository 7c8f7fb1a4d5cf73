"""What a function does in its process stays there."""

import gc
import os
import re
import signal
import sys
import time
from functools import partial

import networkx as nx
import pytest

from predict_graph import memory
from predict_graph.functions import child


def graph():
    return nx.path_graph(50)


def test_a_function_that_prints_reads_and_changes_the_graph(capfd):
    mine = graph()

    def noisy(given: nx.Graph):
        given.remove_node(0)
        print("much" * 1000)
        os.write(1, b"more")
        assert sys.stdin.read() == ""

    assert child.run_in_child(lambda: mine, noisy, child.Limits(seconds=20.0)).done
    assert (len(mine), capfd.readouterr().out) == (50, "")


def test_an_error_has_its_line():
    def fails(given: nx.Graph):
        raise KeyError("weight")

    run = child.run_in_child(graph, fails, child.Limits(seconds=20.0))
    assert run.state == "error"
    assert re.match(r"KeyError: 'weight' \(line \d+ of test_child.py\)", run.sentence)

    async def later(given: nx.Graph):
        yield given

    assert "is asynchronous" in child.run_in_child(graph, later).sentence


@pytest.mark.parametrize("room", [True, False])
def test_garbage_collection_costs_what_it_costs_the_run_if_there_is_room(monkeypatch, room):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**60 if room else 1)

    def frozen(given: nx.Graph):
        assert (gc.get_freeze_count() == 0) is room

    assert child.run_in_child(graph, frozen, child.Limits(seconds=20.0)).done


@pytest.mark.parametrize("forks", [False, True])
def test_memory_is_limited_and_measured(forks):
    def grows(given: nx.Graph, times=8):
        if forks and os.fork():
            return os.wait()
        held = []
        while len(held) < times:
            held.append(bytearray(8 * 2**20))
            time.sleep(0.002)
        return time.sleep(0.5)

    run = child.run_in_child(graph, grows, child.Limits(seconds=20.0))
    assert 60 * 2**20 < run.peak_bytes < 80 * 2**20
    stopped = child.run_in_child(graph, partial(grows, times=999), child.Limits(20.0, memory=2**29))
    assert stopped.state == "memory"


def test_an_iterator_is_drawn_to_its_end():
    seen: list[int] = []

    def lazy(given: nx.Graph):
        return (seen.append(vertex) for vertex in given)

    run = child.run_in_child(graph, lazy, child.Limits(seconds=20.0))
    assert (run.done, run.generator, seen) == (True, True, [])


def test_what_the_parent_has_left_free_hides_nothing_that_a_call_takes():
    many = [{"number": number} for number in range(100_000)]
    kept = many[::100]  # so that Python can give nothing back
    del many
    # The parent's garbage is not collected in a sample, which would leave more free.
    run = child.run_in_child(
        lambda: None, lambda _: len([{"number": n} for n in range(20_000)]), sample=True
    )
    assert (run.done, len(kept)) == (True, 1000)
    assert run.peak_bytes > 0.7 * 20_000 * sys.getsizeof({"number": 1})


def _forks_and_raises(given: nx.Graph):
    if os.fork() == 0:
        raise ValueError


def _is_deaf(given: nx.Graph):
    """Hold signals, as they are while compiled code runs."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
    while True:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("forks", [lambda _: os.fork(), _forks_and_raises])
def test_a_process_that_a_function_forks_sends_nothing(forks):
    for _ in range(5):  # two that wrote at once would be mixed up now and then
        assert child.run_in_child(graph, forks, child.Limits(seconds=20.0)).done


WAITING = [lambda _: time.sleep(60.0), lambda _: os.kill(os.getpid(), signal.SIGSTOP), _is_deaf]


@pytest.mark.parametrize("call", WAITING)
def test_a_call_that_does_not_stop_itself_is_ended(call):
    run = child.run_in_child(graph, call, child.Limits(seconds=0.3))
    assert run.state == "time"
    assert 0.3 <= run.seconds < 50.0
