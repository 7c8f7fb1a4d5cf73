"""Event logs: every form in which Spark writes them, and what went wrong in the job."""

import gzip

import pyarrow as pa
import pytest

from predict_graph.engines.spark.log.eventlog import read_event_log
from tests.predict_graph.cli.events import event, job_end, job_start, stage, start, task
from tests.refusals import refused

SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"


READ = {"Total Records Read": 7, "Local Bytes Read": 70}
METRICS = {"Executor Run Time": 400, "JVM GC Time": 10, "Shuffle Read Metrics": READ}
START = start(0.5)
SCOPE = {"RDD ID": 999, "Name": "x", "Scope": '{"id":"1","name":"Exchange (2)"}'}
TASKS = [task(0, number, metrics=METRICS) for number in (0, 1)]
JOB = job_start(0, [0], 1.0, **{"spark.jobGroup.id": "a"})
LINES = [START, JOB, stage(0, **{"RDD Info": [SCOPE]}), *TASKS, job_end(0, 3.0)]


def text(lines):
    return "".join(lines).encode()


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.fixture
def log_of(written):
    """Write the content of a log, and read it."""
    return lambda content, name="app-1": read_event_log(written(content, name))


FORMS = [bytes, gzip.compress, zstd, lambda content: zstd(content[:600]) + zstd(content[600:])]


@pytest.mark.parametrize("packed", FORMS, ids=["plain", "gzip", "zstd", "zstd in two frames"])
def test_forms_of_a_log(log_of, packed):
    log = log_of(packed(text(LINES)))
    assert log.application == {"id": "app-7", "name": "ranks", "started": 0.5}
    assert list(log.tasks["group"]) == ["a", "a"]
    assert list(log.tasks["task_seconds"]) == [0.4, 0.4]
    assert log.tasks["shuffle_read_records"].sum() == 14
    assert list(log.stages["operators"]) == [frozenset({"Exchange"})]


def test_rolled_log_in_the_order_of_its_numbers(tmp_path):
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    (folder / "appstatus_app-1").touch()
    for number, lines in ((2, LINES[:3]), (10, LINES[3:])):
        (folder / f"events_{number}_app-1.zstd").write_bytes(zstd(text(lines)))
    log = read_event_log(folder)
    assert len(log.tasks) == 2
    assert list(log.jobs["finished"]) == [3.0]


def test_compacted_files_replace_those_before_them(tmp_path):
    (tmp_path / "events_1_app-1").write_bytes(text([task(5, 0)]))
    (tmp_path / "events_2_app-1.compact").write_bytes(text(LINES))
    (tmp_path / "events_3_app-1").write_bytes(text([job_start(1, [1], 4.0), stage(1), task(1, 0)]))
    assert sorted(read_event_log(tmp_path).tasks["stage"]) == [0, 0, 1]


def test_a_folder_of_databricks(tmp_path):
    folder = tmp_path / "1234567_10_0_0_1"
    folder.mkdir()
    (folder / "eventlog").write_bytes(text(LINES[4:]))
    (folder / "eventlog-2026-11-02--10-30.gz").write_bytes(gzip.compress(text(LINES[2:4])))
    (folder / "eventlog-2026-11-02--10-00.gz").write_bytes(gzip.compress(text(LINES[:2])))
    for path in (folder, tmp_path):  # the folder of an application, or that of a cluster
        log = read_event_log(path)
        assert len(log.tasks) == 2
        assert list(log.jobs["finished"]) == [3.0]


def test_a_log_that_is_cut_off_is_read_as_far_as_it_goes(log_of):
    log = log_of(text(LINES)[:-20], "app-1.inprogress")
    assert (len(log.tasks), log.unread) == (2, 0)
    assert log.jobs["finished"].isna().all()
    content = gzip.compress(text([*LINES, *(task(0, number) for number in range(2000))]))
    assert 500 < len(log_of(content[: len(content) * 3 // 4]).tasks) < 2002


def test_failed_killed_and_repeated_tasks(log_of):
    lines = [START, JOB, stage(0), task(0, 0, Failed=True), task(0, 0, 4.0)]
    lines += [task(0, 1), task(0, 1, Killed=True), stage(0, **{"Stage Attempt ID": 1})]
    lines += [task(0, 1, 6.0, attempt=1)]
    tasks = log_of(text([*lines, job_end(0, 7.0)])).tasks
    assert list(tasks["failed"]) == [True, False, False, True, False]
    assert list(tasks["redone"]) == [False, False, True, False, False]
    assert sorted(tasks[~tasks["failed"] & ~tasks["redone"]]["task"]) == [0, 1]


def test_a_stage_belongs_to_the_job_that_runs_it(log_of):
    lines = [*LINES, job_start(1, [0, 1], 4.0), stage(1), task(1, 0), job_end(1, 5.0)]
    assert list(log_of(text(lines)).tasks["job"]) == [0, 0, 1]


def test_sql_executions_and_their_calls(log_of):
    fields = {"executionId": 4, "rootExecutionId": 3, "description": "d", "details": "f(X.scala:1)"}
    lines = [START, JOB, event(f"{SQL}ExecutionStart", **fields, time=9000)]
    lines += [event(f"{SQL}ExecutionEnd", executionId=4, time=9500)]
    log = log_of(text(lines))
    assert log.executions.to_numpy().tolist() == [[4, 3, "d", "f(X.scala:1)", 9.0, 9.5]]


def test_what_is_no_event_log(log_of, tmp_path):
    for content in (b"", b"a,b\n1,2\n", gzip.compress(text(LINES))[:99]):
        refused("is not an event log of Spark, or is cut off before", log_of, content)
    refused("compressed by lzf; accepted", log_of, b"ZV\x01\x00\x10")
    refused("compressed by lz4; accepted", log_of, b"LZ4Block\x15")
    refused("there is no event log", read_event_log, tmp_path / "none")


def test_a_folder_of_logs_has_to_have_one(tmp_path):
    (tmp_path / "notes.txt").write_text("no log")
    (tmp_path / "app-1").write_bytes(text(LINES))
    assert len(read_event_log(tmp_path).tasks) == 2
    (tmp_path / "app-2").write_bytes(text(LINES))
    refused(r"has 2 event logs; accepted: one of them, such as .*-1", read_event_log, tmp_path)
