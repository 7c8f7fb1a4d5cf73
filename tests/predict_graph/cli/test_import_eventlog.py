"""history import-eventlog: a Spark job's log becomes a run of the history."""

import json

import pytest

from tests.predict_graph.cli.events import job_end, job_start, stage, start, task
from tests.predict_graph.cli.events import spark_job as job

START = start(9.0, **{"spark.master": "spark://far:7077", "spark.executor.memory": "2048"})


SITES = ["count at a.py:3", *["collect at a.py:9"] * 4, "save at a.py:12"]
LOOP = [job(number, site) for number, site in enumerate(SITES)]
SIZES = ("--graph", "web", "--vertices", 40, "--edges", 200)


@pytest.fixture
def imported(program, history, written):
    """Import the log of an application with these events after its start."""

    def call(events, *more):
        log = written(START + "".join(events), "app-7")
        return program("history", "import-eventlog", log, *more, "--history", history.path)

    return call


def test_a_log_becomes_a_run(program, imported, history):
    added = imported(LOOP, *SIZES)
    assert added.status == 0, added.err
    assert "ranks: 4 supersteps in 4.0 s added, of 7.0 s of the application; certain" in added.out
    (run,) = program("history", "list", "--history", history.path, "--json", "-").answer
    assert (run["kind"], run["algorithm"], run["graph"]) == ("run", "ranks", "web")
    assert (run["vertices"], run["edges"], run["iterations"]) == (40, 200, 4)
    shown = program("history", "show", 1, "--history", history.path, "--json", "-").answer
    assert shown["engine"]["master"] == "spark://far:7077"
    assert shown["engine"]["memory"] == "2g"
    assert shown["machine"] == "Spark executors on 1 host"
    assert shown["phases"] == pytest.approx({"setup": 2, "read": 0, "superstep": 4, "write": 1})
    for row in shown["table"]:
        assert row["seconds"] == pytest.approx(1.0)
        assert (row["local_messages"], row["remote_messages"]) == (25, 75)
        assert (row["local_message_bytes"], row["remote_message_bytes"]) == (300, 900)


def test_a_cluster_is_predicted_from_a_log_alone(program, imported, history):
    """Nothing listens at far:7077, and nothing has to."""
    imported(LOOP, "--algorithm", "pagerank", *SIZES)
    cluster = ("--engine", "spark", "--master", "spark://far:7077", "--memory", "2g")
    graph = "barabasi-albert:n=300,m=2,seed=1"
    # As many supersteps as the log has: later ones of a session take less.
    asked = ("predict", "pagerank", graph, *cluster, "-p", "max_iterations=4")
    found = program(*asked, "--history", history.path, "--json", "-").answer
    assert [source["source"] for source in found["evidence"]] == ["real runs on the cluster"]
    # A second a superstep for 100 records; the graph has 1,200, none of them remote on one machine.
    assert found["phases"]["superstep"] > 0.8 * found["iterations"]["predicted"]
    assert any("those of real runs on the cluster" in warning for warning in found["warnings"])


def test_the_same_log_twice(program, imported, history):
    for said in ("added", "was here already"):
        assert said in imported(LOOP, "--algorithm", "mine").out
    runs = program("history", "list", "--history", history.path, "--json", "-").answer
    assert [run["algorithm"] for run in runs] == ["mine"]


def test_one_of_several_named_runs(imported):
    """The last one comes again; what ran before a run is no part of it."""
    runs = {"pagerank-a0000001": ("pagerank", 10.0), "job-20240131": ("job-20240131", 6.0)}
    names = [f"{run}/superstep/{step}" for run in (*runs, "job-20240131") for step in (0, 1, 2)]
    jobs = [job(number, "collect at x.py:1", name) for number, name in enumerate(names)]
    for run, (algorithm, seconds) in runs.items():
        said = f"{algorithm}: 2 supersteps in 2.0 s added, of {seconds} s of the application"
        assert said in imported(jobs, "--run", run).out
    imported(jobs, "--run", "x").is_refused(f"no run 'x'; accepted: {', '.join(runs)}")


def query(sites):
    """Return the events of a job of a query, with a stage a second long for each name."""
    stages = list(range(len(sites)))
    events = job_start(0, stages, 10.0, **{"spark.sql.execution.id": "0"})
    for number, site in enumerate(sites):
        scope = json.dumps({"id": str(number), "name": "Exchange"})
        info = {"Parent IDs": stages[max(number - 1, 0) : number]}
        info["RDD Info"] = [{"RDD ID": number, "Name": "MapPartitionsRDD", "Scope": scope}]
        metrics = {"Shuffle Write Metrics": {"Shuffle Records Written": 9}}
        events += stage(number, site, **info) + task(number, 0, 10.0 + number, 1.0, metrics=metrics)
    return events + job_end(0, 10.0 + len(sites))


@pytest.mark.parametrize("place", ["NativeMethodAccessorImpl.java:0", "Main.scala:12"])
def test_stages_of_one_query_are_no_supersteps(imported, place):
    said = "nothing repeats in its 1 piece of work, whose jobs took 8.0 s"
    imported(query([f"count at {place}"] * 8)).is_refused("no supersteps", said)
    # Datasets of a program are called by the lines that made them.
    named = query([*["reduceByKey at a.py:7"] * 7, "collect at a.py:9"])
    assert "7 supersteps in 7.0 s added" in imported(named).out


DESCRIPTIONS = [
    ("GraphFrames Pregel: iteration {} / 20", "GraphFrames Pregel"),
    ("iteration {} of 20", "iteration"),
    ("graph 3: round {}", "graph 3"),
    ("[{}/20] propagating", "propagating"),
]


@pytest.mark.parametrize(("text", "name"), DESCRIPTIONS)
@pytest.mark.parametrize("group", [None, "8832165168432185419_4949274263386184428_cell"])
def test_descriptions_count_up_in_any_of_their_numbers(imported, text, name, group):
    numbered = [job(n, "collect at a.py:9", group, description=text.format(n)) for n in range(1, 8)]
    added = imported([job(0, "load at a.py:1", group), *numbered])
    assert f"{name}: 7 supersteps in 7.0 s added" in added.out
    assert "certain: job groups or descriptions count 7 supersteps" in added.out


def test_java_names_the_same_call_anew(imported):
    places = [*["NativeMethodAccessorImpl.java"] * 4, *["<unknown>"] * 2]
    calls = [job(number, f"save at {place}:0") for number, place in enumerate(places)]
    assert "ranks: 6 supersteps" in imported(calls).out


def test_damaged_lines_are_a_doubt(imported):
    added = imported([*LOOP, *(LOOP[0][:99] + "\n" for _ in "12")]).out
    assert "; doubtful: the same work comes 4 times and takes 67% of the time of all jobs" in added
    assert "a.py:9, but 2 lines of the log cannot be read" in added


@pytest.mark.parametrize("group", ["{}", "table_{}"])
def test_numbered_pieces_of_other_code_are_no_supersteps(imported, group):
    pieces = [job(n, f"count at a.py:{n}", group.format(n)) for n in range(5)]
    imported(pieces).is_refused("no supersteps found")


def test_a_name_of_several_lines_is_one_line(imported):
    pieces = [job(n, "start at a.py:1", None, f"q\nid = a\nbatch = {n}") for n in range(4)]
    assert imported(pieces).out.startswith("q id = a batch: 3 supersteps")
