"""The command watch: logs that grow, are rolled, compressed, cut short; addresses; bad input."""

import gzip
import json
import re
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from shutil import copy

import numpy as np
import pytest

from predict_graph.clock import applications, service
from predict_graph.clock.supersteps import Expected, ExpectedPart
from predict_graph.engines.spark.log import status
from predict_graph.intervals import Interval
from tests.graphs import serving
from tests.predict_graph.cli.events import event, spark_job, start, steps
from tests.python import wait_until
from tests.refusals import failed, refused

pytestmark = pytest.mark.slow  # measures, waits, and starts processes


def job(number, at, name="collect at a.py:9", **more):
    return spark_job(number, name, at=at, **more)


def end(at):
    return event("ApplicationEnd", Timestamp=1e3 * at)


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch):
    monkeypatch.setattr(applications, "_EVERY", 0.05)
    # A look takes long where others keep machines busy.
    monkeypatch.setattr(applications, "_SHARE", 1.0)


@pytest.fixture
def begun():
    """When an application has begun: a minute ago."""
    return time.time() - 60


def moments_of(path, **options):
    return applications.Watch(applications.open_application(str(path))[0], **options).moments()


def test_a_log_that_grows_is_followed_to_its_end(written, tmp_path, begun):
    path = written(event("LogStart"), "app-7.inprogress")
    seen = moments_of(path, iterations=10)
    assert next(seen).state == "before"
    path.write_text(path.read_text() + start(begun) + "".join(steps(4, begun)))
    first = next(seen)
    assert (first.done, first.of.predicted, first.state) == (4, 10, "running")
    assert first.remaining.predicted > 0.0
    with path.open("a") as log:
        (fifth,) = steps(1, begun, first=5)
        log.write(fifth[:100])  # a line that is not whole yet
        log.flush()
        time.sleep(0.2)
        log.write(fifth[100:])
    assert next(each for each in seen if each.done == 5).algorithm == "mine"
    with path.open("a") as log:
        log.write("".join(steps(5, begun, first=6)) + end(begun + 20))
    path.rename(tmp_path / "app-7")  # as Spark does
    *_, last = seen
    assert (last.state, last.of.low, last.elapsed) == ("ended", 10, pytest.approx(20, abs=0.01))
    assert last.first == pytest.approx(first.elapsed + first.remaining.predicted)


def test_without_a_total_only_the_pace_is_said(written, begun):
    moment = next(moments_of(written(start(begun) + "".join(job(n, begun + n) for n in range(5)))))
    assert (moment.of, moment.remaining) == (None, None)
    assert moment.pace.predicted == pytest.approx(1.0)
    assert "1 s each (1 s to 1 s), the remaining number is unknown" in moment.left


def test_a_prediction_says_how_many(written, begun):
    run = "pagerank-0123abcd/superstep"
    groups = [job(n, begun + 2 * n, group=f"{run}/{n}", seconds=2.0) for n in range(1, 6)]
    part = ExpectedPart("pagerank", 9.0, 0.0, np.ones(9), 0.5)
    other = ExpectedPart("topk-ranking", 3.0, 0.0, np.full(3, 4.0), 0.1)
    expected = Expected((part, other), total=Interval(60.0, 50.0, 70.0))
    moment = next(moments_of(written(start(begun) + "".join(groups)), expected=expected))
    assert (moment.algorithm, moment.done, moment.of.predicted) == ("pagerank", 5, 9)
    # Three and a bit more at the pace that is seen, and those of the second algorithm.
    assert 12.0 + 6.0 <= moment.remaining.predicted <= 12.0 + 8.0
    early = next(moments_of(written(start(begun)), expected=expected))
    assert (early.state, early.remaining.predicted, early.first) == ("before", 60.0, 60.0)


def test_a_rolled_log_is_read_file_by_file(tmp_path, begun):
    folder = tmp_path / "eventlog_v2_app-7"
    folder.mkdir()
    (folder / "appstatus_app-7.inprogress").touch()
    jobs = steps(6, begun)
    (folder / "events_1_app-7").write_text(start(begun) + "".join(jobs[:3]))
    seen = moments_of(tmp_path, iterations=6)
    assert next(seen).done == 3
    (folder / "events_2_app-7").write_text("".join(jobs[3:5]))
    assert next(seen).done == 5
    # What was read is compacted, and the last file comes.
    (folder / "events_1_app-7").unlink()
    (folder / "events_2_app-7").rename(folder / "events_2_app-7.compact")
    (folder / "events_3_app-7").write_text(jobs[5] + end(begun + 10))
    *_, last = seen
    assert (last.state, last.done) == ("ended", 6)


def compressed(path, log):
    log.with_name(log.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def by_the_hour(path, log):
    """As Databricks does."""
    log.with_name("eventlog-2026-11-02--10-00.gz").write_bytes(gzip.compress(path.read_bytes()))


ROTATIONS = [
    *(("app-7.log", each) for each in (Path.rename, compressed, copy)),
    ("eventlog", by_the_hour),
]


@pytest.mark.parametrize(("name", "rotate"), ROTATIONS)
def test_a_log_that_is_rotated_is_followed(written, tmp_path, name, rotate, begun):
    jobs = steps(7, begun)
    path = written(start(begun) + "".join(jobs[:3]), name)
    seen = moments_of(tmp_path if name == "eventlog" else path, iterations=7)
    assert next(seen).done == 3
    with path.open("a") as log:  # more, before it is rotated
        log.write(jobs[3])
    rotate(path, tmp_path / "app-7.log.1")
    path.write_text("".join(jobs[4:6]))
    assert next(seen).done == 6
    with path.open("a") as log:
        log.write(jobs[6] + end(begun + 10))
    *_, last = seen
    assert (last.state, last.done) == ("ended", 7)


def test_a_number_of_many_bounds_the_supersteps(written, begun):
    names = [f"GraphFrames Pregel: iteration {n} / 20" for n in range(1, 8)]
    jobs = [job(n, begun + n, group="cell", description=text) for n, text in enumerate(names)]
    moment = next(moments_of(written(start(begun) + "".join(jobs))))
    assert moment.done == 7
    assert 7 < moment.of.low < moment.of.predicted <= moment.of.high == 20
    assert moment.remaining.low < 13 < moment.remaining.high


SHORT = (lambda path: b"a line", lambda path: gzip.compress(path.read_bytes())[:20])
CHANGES = [
    *((lambda path, cut=cut: path.write_bytes(cut(path)), "was cut short while") for cut in SHORT),
    (Path.unlink, "went away while it was watched"),
    (Path.touch, r"has sent no event for .* --patience"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_log_that_does_not_go_on_is_an_error(written, change, said):
    path = written(start(time.time()) + "".join(steps(4, time.time())), "app-7")
    seen = moments_of(path, patience=0.2 if change is Path.touch else 60.0)
    next(seen)
    change(path)
    failed(said, next, seen)


def test_of_a_folder_the_running_one_is_taken(tmp_path):
    (tmp_path / "app-1").write_text(start(1.0) + end(2.0))
    refused(f"runs at {tmp_path}; accepted: ", applications.open_application, str(tmp_path))
    rolled = tmp_path / "eventlog_v2_app-3"
    rolled.mkdir()
    (rolled / "appstatus_app-3.inprogress").touch()  # and never again
    (tmp_path / "app-2.inprogress").write_text(start(1.0))
    assert len(applications.running_at(str(tmp_path))) == 1  # the other has no events yet
    time.sleep(0.02)
    (rolled / "events_1_app-3").write_text(start(1.0))
    application, others = applications.open_application(str(tmp_path))
    assert (application.path.name, others) == ("eventlog_v2_app-3", 1)


def stamp(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "GMT"


@contextmanager
def served(answers, port=0):
    """Serve answers by address, like Spark; yield the address, and what was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.removeprefix("/api/v1/").partition("?")
            asked.append(query)
            time.sleep(answers.get("pause", 0.0))
            self.send_response(200 if path in answers else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answers.get(path)).encode())

        def log_message(self, *_):
            pass

    with serving(Handler, port) as server:
        yield f"http://127.0.0.1:{server.server_port}", asked, server


def rest_answers(count, now, running=False, group="mine/superstep/{}", name="collect at a.py:9"):
    jobs, stages = [], []
    for n in range(count):
        begun, lasts = stamp(now + n), running and n == count - 1
        over = {} if lasts else {"completionTime": stamp(now + n + 1)}
        job = {"jobId": n, "jobGroup": group.format(n + 1), "submissionTime": begun}
        job |= {"stageIds": [n], "status": "RUNNING" if lasts else "SUCCEEDED", **over}
        stage = {"stageId": n, "attemptId": 0, "status": "ACTIVE" if lasts else "COMPLETE"}
        stage |= {"name": name.format(n // 3), "numTasks": 2, "firstTaskLaunchedTime": begun}
        jobs.append(job)
        stages.append(stage | over)
    attempts = [{"startTime": stamp(now), "lastUpdated": stamp(now), "completed": False}]
    described = {"id": "app-9", "name": "theirs", "attempts": attempts}
    return {
        "applications": [described],
        "applications/app-9": described,
        "applications/app-9/jobs": jobs,
        "applications/app-9/stages": stages,
    }


def test_an_address_is_asked_until_it_answers_no_more_or_the_end(monkeypatch):
    answers = rest_answers(5, time.time() - 20, running=True)
    with served(answers) as (address, asked, server):
        application, others = applications.open_application(f"{address}/jobs/")  # of a browser
        assert (application.name, others, asked) == ("theirs (app-9)", 0, ["status=running"])
        seen = applications.Watch(application, iterations=8, patience=600.0).moments()
        first = next(seen)
        assert (first.done, first.of.predicted) == (4, 8)
        answers["applications/app-9/jobs"][-1]["numCompletedTasks"] = 1  # of a long superstep
        assert next(seen).done == 4
        with monkeypatch.context() as hasty:
            hasty.setattr(status, "_PATIENCE", 0.1)
            answers["pause"] = 0.3
            assert (application.poll(), application.ended) == (False, False)
        looked = len(asked)
        answers |= rest_answers(6, time.time() - 20) | {"pause": 0.0}
        assert next(seen).done == 6
        assert len(asked) - looked <= 2 * 3 + 20
        server.shutdown()
        server.server_close()
        *_, last = seen
    assert (last.state, last.done) == ("ended", 6)
    answers = rest_answers(6, time.time() - 20)
    with served(answers) as (address, _, _):
        seen = moments_of(address, iterations=8)
        attempts = answers["applications/app-9"]["attempts"]
        assert next(seen).state == "running"
        again = rest_answers(3, time.time() - 9)  # YARN has started it again
        answers |= {name.replace("9/", "9/2/"): again[name] for name in again if "9/" in name}
        attempts.insert(0, {"attemptId": "2", "startTime": stamp(time.time() - 9)})
        assert next(seen).done == 3
        attempts[0]["completed"] = True
        assert [(each.state, each.done) for each in seen] == [("ended", 3)]


def test_calls_that_java_names_anew_are_one_loop_at_an_address():
    with served(rest_answers(6, 1e9, group="", name="count at <{}>:0")) as (address, _, _):
        assert next(moments_of(address)).done == 6


def test_a_service_shows_all_that_run(tmp_path, monkeypatch, begun):
    logs = [tmp_path / f"app-{n}.inprogress" for n in (1, 2)]
    for log in logs:
        log.write_text(start(begun).replace("ranks", r"r\u009b") + "".join(steps(4, begun)))
    watches = {}

    def watch(each):
        return watches.setdefault(each.key, applications.Watch(each, iterations=10))

    board = service.Board(str(tmp_path), watch)
    where = "[::1]:0" if Path("/proc/net/if_inet6").exists() else "0"
    with service.served(board, where) as address:
        board.look()

        def said(path):
            with urllib.request.urlopen(f"{address}{path}") as answer:
                return answer.read().decode()

        def told(path, *words):
            wait_until(lambda: all(word in said(path) for word in words), 60.0)
            return said(path)

        told("/", "2 running applications", r"r\x9b (app-1.", "iteration 4 of 10, ", " left (")
        named = (rf'iterations{{application="app-{n}",name="r\\x9b (app-{n}.' for n in (1, 2))
        metrics = told("/metrics", *named)
        last = r'{application="app-2",.*bound='
        assert re.search(rf'iterations_expected{last}"low"}} 10\n', metrics)
        assert re.search(rf'remaining_seconds{last}"high"}} [0-9.]+\n', metrics)
        logs[0].write_text(logs[0].read_text() + end(begun + 9))
        told("/", "1 running application<", "ended after 9 s")
        assert "app-1" not in told("/metrics", "app-2")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{address}/else")
        taken = address.rpartition("/")[2]
        refused(
            f"cannot serve at {re.escape(taken)}: .*in use", service.served(board, taken).__enter__
        )
        monkeypatch.setattr(service, "_KEPT", 0.0)
        board.look()
        told("/", "app-1", "app-2")  # a log that was left there would be followed again
        logs[0].rename(tmp_path / "app-1")
        board.look()
        assert "app-1" not in told("/", "app-2")
        watches["app-2"].patience = 0.0
        told("/", "has sent no event")
        watches["app-2"].patience = 60.0
        logs[1].write_text(logs[1].read_text() + "".join(steps(1, begun, first=5)))
        told("/", "iteration 5 of 10")
    said = "--serve is 'web'; accepted: PORT, or HOST:PORT"
    refused(said, service.served(board, "web").__enter__)


def test_a_history_server_may_be_away_for_a_while():
    """It then knows the application only after it has read its log again."""
    answers = rest_answers(4, time.time() - 20)
    answers["applications"][0]["attempts"][0]["lastUpdated"] = stamp(time.time())
    with served(answers) as (address, _, server):
        application, _ = applications.open_application(address)
        assert next(seen := applications.Watch(application).moments()).done == 4
    assert (application.poll(), application.ended) == (False, False)
    with served({}, server.server_port):
        assert (application.poll(), application.ended) == (False, False)
        failed("does not answer as Spark does", applications.open_application, address)
    answers = rest_answers(5, time.time() - 20)
    with served(answers, server.server_port):
        assert next(seen).done == 5
        board = service.Board(address, applications.Watch)
        for completed, said in ((True, "ended after"), (False, "1 running application<")):
            board.look()  # the second time, as of a new attempt of YARN
            answers["applications"][0]["attempts"][0]["completed"] = completed
            wait_until(lambda said=said: said in board.page(), 60.0)


def test_an_address_that_is_no_spark():
    look = applications.open_application
    refused(r"nothing answers at http://127.0.0.1:9", look, "http://127.0.0.1:9")
    with served({"applications": {"a": 1}}) as (address, _, _):
        failed("does not answer as Spark does", look, address)
    with served({"applications": []}) as (address, _, _):
        refused("no application runs at", look, address)
    refused("accepted: an address such as", look, "s3a://logs/spark")


WATCHED = [(1, "no supersteps recognised"), (4, "4 supersteps")]


@pytest.mark.parametrize(("count", "said"), WATCHED)
def test_on_the_command_line(program, written, tmp_path, count, said):
    """With and without a loop, it takes from the start of the application to its end."""
    path = written(start(100.0) + "".join(steps(count, 100.0)) + end(110.0), "app-7")
    events = tmp_path / "events"
    first, *_, ended, last = program("watch", path, "--events", events, status=0).lines
    assert (first, ended) == ("watching ranks (app-7)", f"ranks (app-7) has ended: {said}")
    assert last == "ranks (app-7) took 10 s; no prediction was made before this run"
    (line,) = [json.loads(each) for each in events.read_text().splitlines()]
    assert (line["event"], line["elapsed_seconds"]) == ("end", 10.0)


def test_what_may_be_chance_is_no_superstep(written, begun):
    """Of joins without a loop, "superstep 2" was followed by "superstep 1"."""
    for count, said in ((2, 0), (3, 3)):
        jobs = "".join(job(n, begun + n) for n in range(count))
        seen = moments_of(written(start(begun) + jobs + end(begun + 9)))
        assert [each.done for each in seen] == [said]
