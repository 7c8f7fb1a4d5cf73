"""Other work on the machine: how it is seen, and what a prediction says of it."""

import os
import time
from types import SimpleNamespace

import networkx as nx
import pytest

import predict_graph
from predict_graph import cores, machine
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.team import Team
from predict_graph.functions.comparing import FunctionComparison
from tests.steps import predict_by_formula

GRAPH = "barabasi-albert:n=2000,m=4,seed=1"
BUSY = cores.Load(waited=0.6)
READ = cores.LoadMeter.read  # conftest.py puts a quiet machine in its place
NOW = "on a machine as busy as now"


@pytest.fixture
def counters(monkeypatch):
    """Counters of a system: those of threads, of the control groups and of the machine."""
    found = SimpleNamespace(threads={}, throttled=0.0, machine=(0.0, 1.0))
    # Of a thread, such as self/task/1, or of a child.
    monkeypatch.setattr(cores, "_schedstat", lambda x: found.threads.get(str(x)[10:], (0.5, 4.0)))
    monkeypatch.setattr(cores, "os", SimpleNamespace(listdir=lambda _: [*found.threads]))
    monkeypatch.setattr(cores, "_throttled", lambda: found.throttled)
    monkeypatch.setattr(cores, "_machine", lambda: found.machine)
    return found


TIMES = [
    (1.0, 0.0, 0.0, (0.0, 1.0), 1.0, 1.0),
    (1.0, 2.0, 0.0, (0.0, 3.0), 3.0, 3.0),
    (1.0, 1.0, 1.0, (0.0, 3.0), 1.0, 2.0),
    (1.0, 3.0, 1.0, (0.0, 3.0), 2.0, 4.0),  # the quota stays, the others may not
    (1.0, 0.0, 9.0, (0.0, 3.0), 1.0, 1.0),
    (1.0, 0.0, 0.0, (1.0, 4.0), 4 / 3, 4 / 3),
]


@pytest.mark.parametrize(("ran", "waited", "throttled", "machine", "slowdown", "stretch"), TIMES)
def test_waiting_a_quota_and_stolen_time(
    counters, ran, waited, throttled, machine, slowdown, stretch
):
    meter = cores.LoadMeter()
    counters.threads, counters.throttled = {"1": (ran, waited)}, throttled
    counters.machine = (machine[0], counters.machine[1] + machine[1] - machine[0])
    found = READ(meter)
    assert found.slowdown == pytest.approx(slowdown)
    assert found.stretch == pytest.approx(stretch)


def test_threads_that_ended_and_children_count(counters):
    meter = cores.LoadMeter()
    counters.threads = {"1": (1.0, 0.0), "2": (1.0, 3.0)}
    meter.observe()
    counters.threads = {"1": (1.0, 0.0)}
    assert READ(meter).waited == pytest.approx(0.6)
    counters.threads = {"1": (1.0, 0.0), "2": (0.5, 0.0)}  # the number of another thread
    assert READ(meter).waited == pytest.approx(3.0 / 5.5)
    meter.observe_child(7)
    assert READ(meter).waited == pytest.approx(7.0 / 10.0)


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="counted by Linux")
def test_this_process_is_counted():
    meter = cores.LoadMeter()
    began = time.process_time()
    with Team(2) as team:
        team.share(lambda first, last: sum(range(200_000)), 40)
        meter.observe()
    spent = time.process_time() - began
    now = meter.mark()
    assert now[0] - meter._began[0] >= 0.5 * spent
    assert now[1] >= 0.0


def quota(group, version):
    group.mkdir(parents=True, exist_ok=True)
    if version == 2:
        (group / "cpu.max").write_text("50000 100000")
        (group / "cpu.stat").write_text("usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n")
    else:
        (group / "cpu.cfs_quota_us").write_text("50000")
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.stat").write_text("nr_periods 5\nthrottled_time 2500000000\n")


@pytest.mark.parametrize("place", ["pod/job", "pod", ""])
@pytest.mark.parametrize("version", [1, 2])
def test_quotas_of_all_groups_around_a_process(monkeypatch, written, tmp_path, version, place):
    """A container may see its own group as the root, or that of its pod has the quota."""
    quota((tmp_path if version == 2 else tmp_path / "cpu,cpuacct") / place, version)
    listed = "0::/pod/job\n" if version == 2 else "4:cpu,cpuacct:/pod/job\n0::/\n"
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "_LISTED", written(listed, "listed"))
    monkeypatch.setattr(cores, "usable_cores", lambda: 2)
    assert cores.cores_allowed() == 0.5
    assert cores._throttled() == 2.5


def under(monkeypatch, load):
    monkeypatch.setattr(cores.LoadMeter, "read", lambda meter, since=None: load)


def predictions(monkeypatch, job, **options):
    """A prediction of a quiet machine, and one of a busy one, the rest being equal."""
    found = []
    for load in (cores.Load(), BUSY):
        under(monkeypatch, load)
        found.append(predict_graph.predict(job, GRAPH, seed=1, **options))
    return found


OWN = type("Own", (LocalEngine,), {"name": "own"})


@pytest.mark.parametrize("options", [{"budget": 0}, {}, {"engine": OWN()}])
def test_a_busy_machine_is_said_and_widens_the_interval(monkeypatch, options):
    quiet, busy = predictions(monkeypatch, "pagerank", **options)
    texts = str(busy.answer), busy.to_dict()["verdict"]["sentence"], busy._repr_html_()
    assert all(NOW in text for text in texts)
    (warning,) = set(busy.warnings) - set(quiet.warnings)
    assert "waited 60% of its time for other programs" in warning
    assert "2.5 times as fast" in warning
    assert warning in busy.to_dict()["warnings"]
    assert busy.to_dict()["load"]["slowdown"] == pytest.approx(2.5)
    assert NOW not in str(quiet.answer)
    runtime = busy.runtime_seconds
    assert runtime.low <= runtime.predicted / 2.5
    assert runtime.high >= runtime.predicted * 2.5
    if "budget" not in options:  # what was measured now has the waiting in it
        assert runtime.predicted == pytest.approx(sum(busy.phases.values()))
        assert busy.evidence[0].seconds == pytest.approx(busy.phases["superstep"])


def test_seconds_of_a_quiet_machine_take_longer_on_a_busy_one(monkeypatch):
    quiet, busy = predictions(monkeypatch, "topk-ranking", budget=0)
    assert busy.phases["superstep"] == pytest.approx(2.5 * quiet.phases["superstep"])
    assert busy.prior.phases["superstep"] == pytest.approx(2.5 * quiet.prior.phases["superstep"])
    assert busy.runtime_seconds.predicted == pytest.approx(sum(busy.phases.values()))
    seconds = busy.per_iteration["seconds"].sum()
    assert seconds == pytest.approx(2.5 * quiet.per_iteration["seconds"].sum())


def test_a_quota_is_assumed_to_stay(monkeypatch):
    quiet, _ = predictions(monkeypatch, "pagerank", budget=0)
    under(monkeypatch, cores.Load(throttled=0.5))
    found = predict_graph.predict("pagerank", GRAPH, seed=1, budget=0)
    assert any("CPU quota" in text and "50%" in text for text in found.warnings)
    wide = found.runtime_seconds.high / found.runtime_seconds.predicted
    before = quiet.runtime_seconds.high / quiet.runtime_seconds.predicted
    assert wide == pytest.approx(before, rel=0.05)


def test_the_waiting_of_a_call_is_in_what_it_took(monkeypatch):
    """As of one that sleeps, or whose processes wait."""
    under(monkeypatch, BUSY)
    found = predict_by_formula(lambda vertices: 0.4, nx.path_graph(300))
    assert found.runtime_seconds.predicted == pytest.approx(found.processor_seconds)


def test_functions_take_longer_by_the_clock_on_a_busy_machine(monkeypatch):
    under(monkeypatch, BUSY)
    found = predict_graph.predict(nx.triangles, nx.gnp_random_graph(200, 0.1, seed=1), seed=1)
    assert found.runtime_seconds.predicted == pytest.approx(2.5 * found.processor_seconds, rel=0.01)
    assert found.runtime_seconds.high / found.runtime_seconds.low >= 2.5**2
    assert all(NOW in text for text in (found.verdict.sentence, found._repr_html_()))
    assert any("for other programs" in text for text in found.warnings)
    assert "s of CPU time without" in dict(found.answer.facts)["prediction overhead"]
    both = FunctionComparison(found.graph, [found, found]).answer
    assert str(both).count("for other programs") == 1
    assert found.to_dict()["load"]["waited"] == 0.6
