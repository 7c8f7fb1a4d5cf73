import gzip
import json

import pytest

from benchmarks.one_log import sparklens
from predict_graph.engines.spark.log.replay import logged_job
from predict_graph.sizing import plan
from tests.predict_graph.cli.events import event, job_end, job_start, stage, start, task
from tests.refusals import refused


def log_of(stages, executors=2, cores=1, conf=None, after=0.0, spilled=0):
    """Return a log whose stages are (seconds after the last one's end, seconds of each task)."""
    conf = {"spark.master": "yarn", "spark.executor.memory": "4g"} | (conf or {})
    at = now = 100.0
    text = start(at, **conf)
    for n in range(executors):
        info = {"Host": f"host-{n}", "Total Cores": cores}
        added = {"Timestamp": 1e3 * at, "Executor ID": str(n), "Executor Info": info}
        text += event("ExecutorAdded", **added)
    for number, (gap, tasks) in enumerate(stages):
        now += gap
        text += job_start(number, [number], now)
        text += stage(number, **{"Number of Tasks": len(tasks), "Submission Time": 1e3 * now})
        free = [now] * (executors * cores)
        for index, seconds in enumerate(tasks):
            place = free.index(min(free))
            begun, free[place] = free[place], free[place] + seconds
            metrics = dict.fromkeys(("Memory Bytes Spilled", "Disk Bytes Spilled"), spilled)
            place = {"Executor ID": str(place % executors)}
            text += task(number, index, begun, seconds, metrics=metrics, **place)
        now = max(free)
        text += job_end(number, now)
    return text + event("ApplicationEnd", **{"Timestamp": 1e3 * (now + after)})


SCHEDULES = [
    (2, None, 5 + 12 + 2 + 6 + 1),
    (4, None, 5 + 6 + 2 + 3 + 1),
    (2, 2, 5 + 6 + 2 + 3 + 1),
    (8, None, 5 + 3 + 2 + 3 + 1),
    (1, None, 5 + 24 + 2 + 12 + 1),
]


@pytest.mark.parametrize(("executors", "cores", "seconds"), SCHEDULES)
def test_tasks_are_scheduled_again_and_the_driver_stays(written, executors, cores, seconds):
    text = log_of([(5, [3.0] * 8), (2, [3.0] * 4)], after=1)
    assert logged_job(written(text)).seconds_on(executors, cores) == pytest.approx(seconds)


def test_stages_at_the_same_time_share_the_executors(written):
    job = logged_job(written(log_of([(0, [4.0] * 4), (-4, [4.0] * 2)], executors=6)))
    assert job.executors == 6
    assert [job.seconds_on(n) for n in (6, 3, 2, 1)] == [4.0, 8.0, 12.0, 24.0]


def test_what_was_split_by_cores_is_split_anew(written):
    conf = {"spark.dynamicAllocation.enabled": "true"}
    job = logged_job(written(log_of([(0, [8.0, 12.0])], conf=conf)))
    assert job.submit(4).endswith(" --conf spark.dynamicAllocation.enabled=false")
    assert job.seconds_on(4) == pytest.approx(12.0 / 2, rel=0.1)
    assert sparklens(job).seconds_on(4) == 12.0


def test_the_first_task_on_each_core_takes_longer_on_any_number_of_them(written):
    job = logged_job(written(log_of([(0, [5.0, 5.0, *[1.0] * 14])])))  # 4 more on each core
    assert job.seconds == 12.0
    assert job.seconds_on(1) == pytest.approx(20.0)
    assert job.seconds_on(8) == pytest.approx(6.0)


def test_a_plan_from_one_log(written, program, tmp_path):
    file = written(log_of([(5, [30.0] * 16)], cores=2, spilled=1 << 19), "job.eventlog")
    found = tmp_path / "plan.json"
    words = ("plan", file, "--machines", "1:8", "--deadline", "100s", "--json", found)
    done = program(*words, status=0)
    assert "--num-executors 4 --executor-cores 2 --executor-memory 4g" in " ".join(done.out.split())
    assert "spilled 8 MiB" in " ".join(done.out.split())
    choice = json.loads(found.read_text())["choice"]
    assert choice["seconds"] == pytest.approx(65.0)
    assert choice["low"] < 65.0 < choice["high"] <= 100.0
    assert "executor-cores" not in program(*words[:4], "--deadline", "1s", status=1).out
    doubled = program(*words[:4], "--executor-cores", 4)
    assert "--num-executors 4 --executor-cores 4" in " ".join(doubled.out.split())


def test_further_from_the_log_is_less_sure(written):
    made = plan(written(log_of([(5, [30.0] * 64)])), "2,4,8,16")
    ratios = made.configurations["high"] / made.configurations["seconds"]
    assert ratios.is_monotonic_increasing
    assert ratios[0] < 1.25


def test_what_is_refused(written):
    for text in (start(0.0), event("LogStart") + start(0.0)[:50]):
        refused("has no tasks", plan, written(text), "1:4")
    cut = gzip.compress(log_of([(0, [1.0])]).encode())[:99]
    refused("or is cut off before any event", plan, written(cut, "app.gz"), "1:4")
    wide = written(log_of([(0, [1.0])], conf={"spark.task.cpus": "2"}, cores=2))
    refused("at least 2", plan, wide, "1:4", executor_cores=1)
    said = "is no event log of Spark, which alone reads --executor-cores"
    refused(said, plan, written('{"version": "1"}'), "1:4", executor_cores=4)


def test_executors_have_the_cores_of_their_machines(written):
    prices = written("type,cores,usd_per_hour\nbig,4,0.2\n", "prices.csv")
    file = written(log_of([(0, [4.0] * 16)]))
    found = plan(f"big={file}", "1:4", prices=prices)
    assert "--num-executors 4 --executor-cores 4" in found.submit
    assert any("executors have 4 cores" in text for text in found.warnings)
    rows = found.to_frame().set_index("machines")
    assert [rows["seconds"][n] for n in (1, 2, 4)] == pytest.approx([16.0, 8.0, 4.0])
    doubled = plan(file, "1:4", executor_cores=2).to_frame()
    assert doubled["in_measured_range"].tolist() == [True, False, False, False]


def test_a_local_session_and_its_threads(written):
    text = log_of([(0, [1.0] * 8)], executors=1, cores=4, conf={"spark.master": "local[4]"})
    job = logged_job(written(text.replace("ApplicationEnd", "Other") + task(0)[:99] + "\n"))
    assert (job.executors, job.slots, job.submit(3)) == (4, 1, "--master local[3]")
    assert job.submit(3, cores=2) == "--master local[6]"
    for said in ("threads count as machines", "the log has no end", "1 line of the log cannot"):
        assert any(said in doubt for doubt in job.doubts)
