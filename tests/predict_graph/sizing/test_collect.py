"""Measuring real processes: what is recorded, resumed, ended, and never lost."""

import fcntl
import os
import signal
import sys

import pandas as pd
import pytest

from predict_graph.sizing import collect, read_design, read_measurements
from predict_graph.sizing.tasks.watching import watch
from predict_graph.timing import clock
from tests.python import has_ended, started, wait_until
from tests.refusals import failed, refused

pytestmark = pytest.mark.slow  # measures, waits, and starts processes


# A small job, which prints what it was given.
JOB = ["sh", "-c", 'echo did "$1" "$2"', "sh", "{scale}", "{machines}"]


def rows(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def python(code, *arguments):
    return [sys.executable, "-c", code, *arguments]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "points.csv"


@pytest.fixture
def design(written):
    return read_design(written("scale,machines\n1,1\n1,2\n2,4\n"))


def test_every_point_is_measured_and_its_output_kept_when_asked(design, out, tmp_path):
    logs = tmp_path / "a" / "logs"
    collected = collect(design, JOB, out, logs=logs)
    assert (logs / "scale-1,machines-2,repeat-1.log").read_text() == "did 1 2\n"
    assert [" ".join(e.values.values()) for e, _ in collected.measured] == ["1 1", "1 2", "2 4"]
    for row in rows(out):
        assert row["exit_status"] == "0"
        assert row["command"].endswith(f"sh {row['scale']} {row['machines']}")
    assert read_measurements(out).done.machines.tolist() == [1, 2, 4]


def test_each_run_has_a_log_of_its_own(written, out, tmp_path):
    rows = "".join(f"{n},{text}\n" for n in (1, 2) for text in ("a/b", "a b", "a-b", 300 * "x"))
    design = read_design(written(f"machines,text\n{rows}"))
    texts = {"repeats": "2", "parallel": "2", "timeout": "1h"}
    collect(design, ["echo", "{machines}", "{text}"], out, logs=tmp_path, **texts)
    assert len([*tmp_path.glob("*.log")]) == 16


def test_seconds_are_those_of_the_process(written, out, monkeypatch):
    """Read when it is started, and once when it has ended."""
    times = iter([10.0, 10.3, 20.0, 20.4])
    monkeypatch.setattr(clock, "wall", lambda: next(times))
    collect(read_design(written("machines\n1\n")), ["true"], out, repeats=2, timeout=60)
    assert [float(row["seconds"]) for row in rows(out)] == pytest.approx([0.3, 0.4])


def test_repeats_come_in_rounds(written, out):
    design = read_design(written("scale;machines;repeats\n0,5;1;1\n0,5;2;2\n0,5;2;1\n"))
    done = collect(design, ["true", "{scale}", "{machines}", "{repeat}"], out, repeats=2)
    assert [e.values["machines"] for e, _ in done.measured] == list("12122222")
    said = [r["command"].partition(" 0.5 ")[2] for r in rows(out)]  # which programs can read
    assert [text.split()[-1] for text in said] == list("11223456")


def test_what_is_measured_is_not_measured_again(design, written, out):
    collect(read_design(written("scale,machines\n1,1\n")), JOB, out)
    out.write_text(before := out.read_text(), newline="\r\n")  # as Excel saves it
    again = collect(read_design(written("scale,machines\n1.0,1\n")), JOB, out)
    assert (again.skipped, again.measured) == (1, [])
    again = collect(design, JOB, out)
    assert (again.skipped, len(again.measured)) == (1, 2)
    assert out.read_text().startswith(before)
    refused("machines 1, repeat 1 measured by another", collect, design, [*JOB, "--fast"], out)


FAILS_AT_TWO = "import sys; print('no memory'); sys.exit(3 * (sys.argv[1] == '2'))"


def test_failures_are_recorded_and_tried_again(written, out, tmp_path):
    design = read_design(written("machines\n1\n2\n4\n"))
    command = python(FAILS_AT_TWO, "{machines}")
    collected = collect(design, command, out)
    assert len(collected.measured) == 2
    ((experiment, outcome),) = collected.failed
    assert experiment.values == {"machines": "2"}
    assert (outcome.exit_status, outcome.outcome, outcome.last_line) == (3, "failed", "no memory")
    assert [(r["exit_status"], r["outcome"]) for r in rows(out)][1] == ("3", "failed")
    again = collect(design, command, out)
    assert (again.skipped, len(again.measured), len(again.failed)) == (2, 0, 1)
    assert len(read_measurements(out).of("failed")) == 2


def check_ended(file):
    """Check that the process whose number is in a file ends."""
    wait_until(lambda: has_ended(int(file.read_text())), 60.0)


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")

# Starts a child of its own, says which, and hangs; with a second argument it minds no request.
HANGS = """
if [ -n "$2" ]; then trap "" TERM; fi
sleep 600 &
echo $! > "$1.part"
mv "$1.part" "$1"
while true; do wait; done
"""


@needs_proc
@pytest.mark.parametrize("words", [[], ["deaf"]])
def test_a_job_that_hangs_is_ended_with_its_children(written, out, tmp_path, monkeypatch, words):
    monkeypatch.setattr("predict_graph.processes.PATIENCE", 0.5)
    monkeypatch.setattr("predict_graph.processes._end_the_rest.__defaults__", (0.5,))
    child = tmp_path / "child"
    design = read_design(written("machines\n1\n"))
    collected = collect(design, ["sh", "-c", HANGS, "sh", str(child), *words], out, timeout=2.5)
    outcome = collected.failed[0][1]
    assert outcome.outcome == "timeout"
    assert outcome.exit_status == -9 if words else outcome.exit_status
    assert 2.5 <= outcome.seconds < 300  # the child sleeps longer
    assert rows(out)[0]["outcome"] == "timeout"
    check_ended(child)


def test_several_at_a_time(written, out, tmp_path):
    design = read_design(written("machines,n\n" + "".join(f"1,{n}\n" for n in range(6))))
    # Each waits until all have begun.
    wait = 'touch "$1/$2"; while [ "$(ls "$1" | wc -l)" -lt 6 ]; do sleep 0.01; done'
    (tmp_path / "begun").mkdir()
    job = ["sh", "-c", wait, "sh", str(tmp_path / "begun"), "{n}"]
    assert len(collect(design, job, out, parallel=6, timeout=60).measured) == len(rows(out)) == 6


def test_a_command_with_braces_of_its_own(written, out):
    command = python("assert {1: {}} == eval('{1: {}}') and '{other}'[1] == 'o'", "{machines}")
    assert len(collect(read_design(written("machines\n1\n")), command, out).measured) == 1


def test_a_torn_last_line_is_dropped_and_one_without_an_end_kept(design, out):
    job = [*JOB, "of\ntwo lines"]
    collect(design, job, out)
    whole = out.read_text().replace("+00:00", ' 5"', 1)  # as somebody may write
    for end, measured in ((-1, 0), (-12, 1), (whole.rindex("two"), 1), (9, 3)):  # 9: of the header
        out.write_text(whole[:end])
        assert len(collect(design, job, out).measured) == measured
        assert [row["machines"] for row in rows(out)] == ["1", "2", "4"]


def test_a_file_that_is_not_ours_or_that_another_process_writes(design, out):
    for content in (b"a,b\n1,2\n", b"a,b\n1,2", b"precious", b"\xff\xfe\n\x00"):
        out.write_bytes(content)
        refused(r"begins with .*, but needs the columns", collect, design, JOB, out)
        assert out.read_bytes() == content
    with open(out, "a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        refused("being written by another process", collect, design, JOB, out)


def test_a_full_disk_ends_the_collection(design, written, out, monkeypatch):
    collect(read_design(written("scale,machines\n1,1\n")), JOB, out)
    before = out.read_text()

    def full(handle, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("predict_graph.sizing.table_file.os.write", full)
    failed(r"writing .*points.csv failed: No space left", collect, design, JOB, out)
    assert out.read_text() == before


def test_bad_requests(design, out, tmp_path):
    misspelt = ["sleep", "{scale}", "{machine}"]
    missing = ["no-such-program", "{scale}", "{machines}"]
    refused("there is no command", collect, design, [], out)
    refused(r"not use \{machines\}.*accepted placeholders", collect, design, misspelt, out)
    refused("'no-such-program' is not there", collect, design, missing, out)
    refused("repeats are 0", collect, design, JOB, out, repeats=0)
    refused("accepted: at most 100,000", collect, design, JOB, out, repeats=10**6)
    refused("there is no folder", collect, design, JOB, tmp_path / "away" / "points.csv")
    assert not out.exists()


def interrupted(arguments, folder, number, ready):
    """Start collect, wait for `ready`, send a signal, and return status and output."""
    with started("-m", "predict_graph", "collect", *arguments, cwd=folder) as process:
        wait_until(lambda: ready() or process.poll() is not None)
        process.send_signal(number)
        out, err = process.communicate(timeout=300)  # the children sleep longer
        return process.returncode, out, err


@needs_proc
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_children_and_keeps_what_is_measured(written, tmp_path, number):
    # One machine is measured at once; two hang.
    design = written("machines\n1\n2\n")
    child = tmp_path / "child"
    job = ["sh", "-c", 'if [ "$1" = 1 ]; then exit 0; fi; exec "$2" -c "$3" sh "$4"', "sh"]
    job += ["{machines}", "sh", HANGS, str(child)]
    arguments = ["--design", str(design), "--out", "points.csv", "--", *job]
    status, out, err = interrupted(arguments, tmp_path, number, child.exists)
    assert status in (130, -signal.SIGINT, 128 + number)
    assert out == ""
    said = [line for line in err.splitlines() if line]
    # The second has begun before it is said that the first has ended.
    assert all(line.startswith("1 of 2: machines 1, repeat 1: ") for line in said[:-2])
    assert said[-2:] == [
        "1 new point kept in points.csv; the same command goes on from there",
        f"error: {'ended' if number == signal.SIGTERM else 'interrupted'}; nothing is half written",
    ]
    assert [r["machines"] for r in rows(tmp_path / "points.csv")] == ["1"]
    check_ended(child)


@needs_proc
def test_a_collection_that_is_killed_goes_on(written, tmp_path):
    design = written("machines\n1\n2\n3\n")
    mark = tmp_path / "mark"
    code = (
        "import os, pathlib, sys, time; p = pathlib.Path(sys.argv[1]); of = os.getppid();"
        "again = p.exists(); two = sys.argv[2] == '2'; two and p.touch()\n"
        "while two and not again and os.getppid() == of: time.sleep(0.01)"
    )
    job = python(code, str(mark), "{machines}")
    arguments = ["--design", str(design), "--out", "points.csv", "--", *job]
    interrupted(arguments, tmp_path, signal.SIGKILL, mark.exists)
    points = tmp_path / "points.csv"
    assert [r["machines"] for r in rows(points)] == ["1"]
    collected = collect(read_design(design), job, points)
    assert (collected.skipped, len(collected.measured)) == (1, 2)
    assert [r["machines"] for r in rows(points)] == ["1", "2", "3"]


# Watching one of them.


def test_computing_is_told_from_waiting():
    code = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    busy, idle = watch(python(code)), watch(["sleep", "0.8"])
    assert busy.exit_status == idle.exit_status == 0
    assert busy.cpu_seconds > 0.6
    assert idle.seconds > 0.8
    assert idle.utilization < 0.5 * busy.utilization


def test_bytes_of_all_processes_are_counted(written, tmp_path):
    file = written(b"x" * 3_000_000, "data")
    seen = watch(["sh", "-c", f"cat {file} | cat > {tmp_path / 'copy'}; sleep 0.2"])
    assert 6_000_000 <= seen.read_bytes < 8_000_000  # each cat reads it all
    assert 6_000_000 <= seen.written_bytes < 8_000_000
    assert seen.data_bytes == seen.read_bytes + seen.written_bytes
    assert seen.network_share() == 0.0 or seen.network_bytes > 0


def test_bad_commands_and_one_that_fails():
    assert watch(["sh", "-c", "exit 7"]).exit_status == 7
    refused("there is no command", watch, [])
    refused("parallelism is 0", watch, ["true"], parallelism=0)
    failed("cannot run /no/such/program", watch, ["/no/such/program"])
