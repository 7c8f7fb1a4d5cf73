"""Measuring a simulated machine: its work takes counted seconds, however busy this one is."""

import os
import queue
import socket
import threading
from contextlib import contextmanager

import pytest

from predict_graph.cores import usable_cores
from predict_graph.resources import calibrate, loops, network
from predict_graph.resources.profile import WORKING_SETS, latency_name
from predict_graph.timing import clock
from tests.refusals import failed, refused

INTEGERS, FLOATS, STREAM = 400e6, 150e6, 8e9
"""Steps a second, and bytes."""
COMMIT, READING = 2e-3, 1e-6
"""Seconds of a commit of the disk, and of reading the clock."""


def latency(size):
    """Seconds that a word takes of so many bytes: a cache of 1 MiB, and memory."""
    return 2e-9 if size <= 1 << 20 else 90e-9


class SimulatedMachine:
    """A machine with a core for each thread; a part of each may go to others.

    The clock of a thread is what its own work has taken.
    """

    def __init__(self, share):
        self.share, self._own = share, threading.local()

    def wall(self):
        self.take(READING)
        return self._own.seconds

    def take(self, seconds):
        self._own.seconds = getattr(self._own, "seconds", 0.0) + seconds / self.share

    def commit(self, handle):
        self.take(COMMIT)


@contextmanager
def simulated(share=1.0):
    """Put a simulated machine in place of this one."""
    machine = SimulatedMachine(share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "wall", machine.wall)
        patch.setattr(os, "fsync", machine.commit)
        for name, seconds in (
            ("integers", lambda _, steps: steps / INTEGERS),
            ("floats", lambda _, steps: steps / FLOATS),
            ("triad", lambda a, b, c: (a.nbytes + b.nbytes + c.nbytes) / STREAM),
            ("chase", lambda chain, _, steps: steps * latency(chain.nbytes)),
        ):

            def work(*given, seconds=seconds):
                machine.take(seconds(*given))
                return 0

            patch.setattr(loops, name, work)
        patch.setattr(loops.measure_memory, "__defaults__", (5, 1 << 16))
        yield machine


@pytest.mark.slow
def test_figures_are_those_of_the_machine():
    said = []
    with simulated():
        here = calibrate(progress=lambda what, done: said.append((what, done)))
    assert {"disk_write_bandwidth", *map(latency_name, WORKING_SETS)} <= set(here.attributes)
    assert all(each.value > 0 and each.repeats > 0 for each in here.attributes.values())
    assert 1.0 < here.seconds < 60.0  # of its own clock
    assert here.value("cpu_integer_speed") == pytest.approx(400, rel=0.01)
    assert here.value("cpu_float_speed") == pytest.approx(150, rel=0.01)
    assert here.value("cpu_cores") == pytest.approx(usable_cores(), rel=0.01)
    assert here.value("memory_bandwidth") == pytest.approx(8 * usable_cores(), rel=0.2)
    assert here.value("memory_latency_32k") == pytest.approx(2, rel=0.1)
    assert here.value("memory_latency_128m") == pytest.approx(90, rel=0.1)
    assert here.value("disk_latency") == pytest.approx(1e3 * COMMIT, rel=0.01)
    assert [what for what, _ in said] == ["disk", "processor", "memory", "done"]
    assert said[-1][1] == 1.0


def test_a_quota_shows():
    with simulated():
        whole = loops.measure_processor(repeats=2)["cpu_integer_speed"].value
    with simulated(0.25):
        part = loops.measure_processor(repeats=2)["cpu_integer_speed"].value
    assert part == pytest.approx(0.25 * whole, rel=0.01)


def test_another_machine_answers(monkeypatch):
    ports = queue.Queue()
    threading.Thread(target=network.serve, args=(0, "127.0.0.1", ports.put), daemon=True).start()
    peer = network.check_peer(ports.get(timeout=60))
    monkeypatch.setattr(network._in_turns, "__defaults__", (1, 0.01, 1 << 22))
    assert network.measure_network(peer)["network_bandwidth"].value > 0.0


class Peer:
    """A peer whose answers take so many seconds, and so many more for each byte."""

    def __init__(self, machine, wait, rate):
        self.machine, self.wait, self.rate = machine, wait, rate

    def sendall(self, request):
        self.machine.take(self.wait)

    def recv_into(self, buffer, count):
        self.machine.take(count / self.rate)
        return count


@pytest.mark.parametrize(("wait", "rate"), [(1e-4, 1e9), (0.02, 1e7)])
def test_a_slow_network_is_seen_as_slow(wait, rate):
    with simulated() as machine:
        trips, rates = network._in_turns(Peer(machine, wait, rate), most=1 << 22)
    assert trips == pytest.approx([wait] * len(trips), rel=0.05)
    assert rates == pytest.approx([rate] * len(rates), rel=0.2)


def test_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed("cannot listen on", network.serve, port)
    failed(f"127.0.0.1:{port} does not answer", network.measure_network, ("127.0.0.1", port))


@pytest.mark.parametrize("peer", ["host", ":80", "host:", "host:x", "host:0", "host:70000"])
def test_bad_peers(peer):
    refused("accepted: HOST:PORT", network.check_peer, peer)


def test_a_folder_that_cannot_be_written(tmp_path):
    failed("cannot measure the disk below", calibrate, folder=tmp_path / "missing")


def test_the_chain_goes_through_all_places():
    following, seen = loops._cycle(1024), [0]
    while len(seen) < 1024:
        seen.append(int(following[seen[-1]]))
    assert len(set(seen)) == 1024
    assert following[seen[-1]] == 0
