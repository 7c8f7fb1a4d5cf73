import os
import socket
import threading
import time
from functools import partial

import pytest

from predict_graph.errors import JobError, RequestError
from predict_graph.resources import calibrate
from predict_graph.resources.cores import usable_cores
from predict_graph.resources.memory import WORKING_SETS, latency_name, measure_memory
from predict_graph.resources.network import check_peer, measure_network, serve
from predict_graph.resources.processor import measure_processor

pytestmark = pytest.mark.slow

SAID = []


@pytest.fixture(scope="module")
def here():
    """This machine; each figure from fewer repeats than a person gets."""
    with pytest.MonkeyPatch.context() as patch:
        for part in (measure_processor, measure_memory):
            name = f"predict_graph.resources.calibration.{part.__name__}"
            patch.setattr(name, partial(part, repeats=2))
        yield calibrate(progress=lambda what, done: SAID.append((what, done)))


@pytest.fixture
def answering():
    """Give the port of a machine that answers, here."""
    ports = []
    ready = threading.Event()

    def told(port):
        ports.append(port)
        ready.set()

    threading.Thread(target=serve, args=(0, "127.0.0.1", told), daemon=True).start()
    assert ready.wait(60)
    return ports[0]


def test_all_resources(here):
    assert here.seconds < 600  # half a minute; more on a machine that is slow or busy
    expected = {"cpu_integer_speed", "cpu_float_speed", "cpu_cores", "memory_bandwidth"}
    expected |= {latency_name(size) for size in WORKING_SETS}
    expected |= {"disk_write_bandwidth", "disk_latency", "network_latency", "network_bandwidth"}
    assert expected <= set(here.attributes)
    assert all(each.value > 0 and each.repeats > 0 for each in here.attributes.values())


def test_figures_are_those_of_some_machine(here):
    assert 0.3 < here.value("cpu_cores") <= usable_cores()
    assert 10 < here.value("cpu_integer_speed") < 20_000  # million steps a second
    assert here.value("memory_latency_128m") > 3 * here.value("memory_latency_32k")
    assert here.value("network_latency") < 50.0  # ms, to itself


def test_progress_is_told(here):
    assert [what for what, _ in SAID] == ["network", "disk", "processor", "memory", "done"]
    assert SAID[-1][1] == 1.0


def test_another_machine_answers(answering):
    found = measure_network(("127.0.0.1", answering))
    assert found["network_bandwidth"].value > 1.0


def test_a_slow_network_is_seen_as_slow(answering):
    from benchmarks.nimo.storage import delay_to

    slow = delay_to(("127.0.0.1", answering), "127.0.0.1", 0.02)
    assert 19.0 < measure_network(("127.0.0.1", slow))["network_latency"].value < 200.0


def test_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(JobError, match="cannot listen on"):
            serve(port)
    with pytest.raises(JobError, match=f"127.0.0.1:{port} does not answer"):
        measure_network(("127.0.0.1", port))


@pytest.mark.parametrize("peer", ["host", ":80", "host:", "host:x", "host:0", "host:70000"])
def test_bad_peers(peer):
    with pytest.raises(RequestError, match="accepted: HOST:PORT"):
        check_peer(peer)


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(JobError, match="cannot measure the disk below"):
        calibrate(folder=tmp_path / "missing", network=False)


def test_a_quota_shows():
    from benchmarks.cpu_quota import CannotCapError, CpuQuota
    from predict_graph.resources.kernels import integers

    try:
        quota = CpuQuota(f"predict-graph-test-{os.getpid()}")
    except CannotCapError as error:
        pytest.skip(str(error))
    integers(1, 1)
    begun = time.process_time()
    integers(1, 20_000_000)
    whole = 20.0 / (time.process_time() - begun)  # of a core to itself, however busy the machine is
    try:
        quota.limit(0.25)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:  # its own process, as entering cannot be taken back
            try:
                quota.enter()
                found = measure_processor(repeats=3)
                os.write(writing, str(found["cpu_integer_speed"].value).encode())
            finally:
                os._exit(0)
        os.close(writing)
        speed = float(os.read(reading, 200))
        os.waitpid(child, 0)
    finally:
        quota.remove()
    assert 0.0 < speed < 0.45 * whole


@pytest.mark.parametrize("length", [8, 1024, 4096])
def test_the_chain_goes_through_all_places(length):
    from predict_graph.resources.memory import _cycle

    following, seen, place = _cycle(length), set(), 0
    for _ in range(length):
        seen.add(place)
        place = int(following[place])
    assert len(seen) == length
    assert place == 0
