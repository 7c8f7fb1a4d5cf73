"""Ctrl-C while `track` runs a function: one sentence, and no traceback of ours."""

import re
import signal

import networkx as nx
import pytest

from predict_graph import track
from tests.python import python

pytestmark = pytest.mark.slow  # starts processes

INTERRUPTED = """
import os, signal, sys, threading, time
import networkx as nx
import predict_graph

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

def slow(graph):
    for vertex in list(graph):
        time.sleep(0.02)
        if vertex == 50:
            os.kill(os.getpid(), signal.SIGINT)

class Interrupting:
    "A path whose reading is interrupted."
    def __fspath__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return "nothing"

def called():
    predict_graph.track({function}, {graph}, history="none")

{call}
"""


def interrupted(call="called()", function="slow", graph="nx.path_graph(1000)"):
    code = INTERRUPTED.format(call=call, function=function, graph=graph)
    return python("-c", code, check=False)


def test_an_interrupt_ends_a_script_with_one_sentence():
    for done, said in (
        (interrupted(), r"__main__:slow was interrupted after [\d.]+ m?s(, in round \d+ of 1000)?"),
        (
            interrupted(graph="Interrupting()", function="'networkx:pagerank'"),
            "interrupted before the function was called",
        ),
    ):
        assert done.returncode == -signal.SIGINT
        assert re.fullmatch(said, done.stderr.strip())
        assert done.stdout == ""


def test_an_interrupt_can_be_handled_and_other_errors_keep_their_traceback():
    call = """
for _ in range(2):
    try:
        called()
    except KeyboardInterrupt as interrupt:
        print(interrupt)
raise ValueError("another")
"""
    done = interrupted(call)
    assert done.returncode == 1
    assert done.stdout.count("slow was interrupted after") == 2
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ValueError: another\n")


def test_a_notebook_shows_an_interrupt_by_its_sentence():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            track(lambda _: signal.raise_signal(signal.SIGINT), nx.path_graph(9), history="none")
    finally:
        signal.signal(signal.SIGINT, before)
    (line,) = caught.value._render_traceback_()  # what IPython calls
    assert "was interrupted after" in line
