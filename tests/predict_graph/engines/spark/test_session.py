"""Settings and sessions: what they refuse, what they leave behind, what keeps them from opening."""

import json
import os
import signal
import socket
import time

import pytest

from predict_graph import errors
from predict_graph.engines.spark import SparkSettings
from predict_graph.engines.spark.session import opening
from tests.python import processes_of, started, wait_until
from tests.refusals import failed, refused


def said_by(settings):
    return failed(None, opening.open_session(settings).__enter__)


# What is missing.


JAVAS = [
    (None, "there is no java on the PATH, and JAVA_HOME is not set"),
    ("none", "there is no java in the JAVA_HOME /"),
    ('IMPLEMENTOR="x"\nJAVA_VERSION="1.8.0_392"\n', "needs Java 17 or 21, but .*java is Java 8"),
]


@pytest.mark.parametrize(("java", "said"), JAVAS)
def test_no_java(monkeypatch, tmp_path, java, said):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path if java else ""))
    if java and java != "none":
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").touch(0o755)
        (tmp_path / "release").write_text(java)
    failed(said, opening.require_spark)


def test_no_pyspark(monkeypatch):
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    refused(r"pip install 'predict-graph\[spark\]'", opening.require_spark)


def test_a_java_that_does_not_start(monkeypatch, written, tmp_path, spark_here):
    (tmp_path / "bin").mkdir()
    written("#!/bin/sh\necho 'Error: this Java is broken' >&2\nexit 1\n", "bin/java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "starting Spark failed: Error: this Java is broken" in said_by(SparkSettings())


# Masters that are none.


def test_no_master(spark_here):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = said_by(SparkSettings(master=f"spark://127.0.0.1:{port}"))
    assert said == f"no Spark master at spark://127.0.0.1:{port}: Connection refused"
    refused("accepted: spark://HOST:PORT", opening._check_master, "spark://host:port")


def test_a_folder_that_nothing_can_be_put_in(spark_here, tmp_path):
    said = said_by(SparkSettings(folder="/proc/self/fd"))
    assert said.startswith("cannot put temporary files in /proc/self/fd: ")


# Sessions and what they leave.


_SESSIONS = """
import json, sys
from predict_graph.algorithms import PageRank
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph

def say(iteration, aggregate):
    print("superstep", iteration, flush=True)

conf, memories = json.loads(sys.argv[1])
endless = {"threshold": 0.0, "max_iterations": 10**6, "progress": say}
try:
    for memory in memories:
        engine = SparkEngine(master="local[1]", memory=memory, conf=conf)
        with engine.session() as session:
            java = session.spark.sparkContext._jvm.java
            print(java.lang.Runtime.getRuntime().maxMemory() >> 20, flush=True)
            if memory == memories[-1]:
                engine.run(PageRank(), check_graph("cycle:n=3"), **endless)
        print([folder.exists() for folder in (session.folder, session.event_logs)], flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


SESSIONS = [
    (["700m"], signal.SIGINT),
    pytest.param(["600m", "700m"], signal.SIGKILL, marks=pytest.mark.long),
]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("memories", "sent"), SESSIONS)
def test_sessions_have_their_own_memory_and_the_last_is_interrupted(
    spark_here, quick_conf, tmp_path, memories, sent
):
    """Nothing of them goes on, and no file of those that could end is left."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    words = ("-c", _SESSIONS, json.dumps([quick_conf, memories]))
    options = {"cwd": here, "env": os.environ | {"TMPDIR": str(there)}, "start_new_session": True}
    with started(*words, **options) as run:
        for memory in memories:
            most = int(memory.removesuffix("m"))
            assert most - 100 < int(run.stdout.readline() or run.communicate()[1]) <= most
            ended = run.stdout.readline()
            assert ended == ("superstep 1\n" if memory == memories[-1] else "[False, False]\n")
        assert os.listdir(here) == []
        time.sleep(0.3)
        run.send_signal(sent)
        err = run.communicate(timeout=600)[1]
    wait_until(lambda: not processes_of(run.pid), 300.0)
    assert os.listdir(here) == []
    if sent == signal.SIGINT:
        assert (run.returncode, err) == (130, "")
        assert [name for name in os.listdir(there) if not name.startswith("hsperf")] == []


# Settings.


WRONG = [
    ({"machines": 0}, "machines is 0; accepted: 1 to 4096"),
    ({"cores": 1.5}, "cores is 1.5; accepted: 1 to 1024"),
    ({"master": "local[4,2]"}, "master is local[4,2]; accepted: local, local[N] or local[*]"),
    ({"memory": 4}, "memory is 4; accepted: a size such as 900m or 4g"),
    ({"memory": f"{5000 * '9'}g"}, "…'; accepted: a size such as 900m or 4g"),
    ({"memory": "0g"}, "memory is '0g'"),
    ({"graphframes_jar": 60 * "x.jar"}, "no GraphFrames jar at x.jar"),
    ({"folder": "/no/such/folder"}, "there is no folder /no/such/folder"),
    ({"conf": {"memory": "1g"}}, "conf has 'memory': '1g'; accepted: names that begin with"),
    ({"conf": {"spark.ui.enabled": True}}, "conf has 'spark.ui.enabled': True"),
    ({"conf": {"spark.executor.memory": "1g"}}, "accepted: the parameter memory"),
    ({"conf": {"spark.eventLog.enabled": "false"}}, "needs for itself"),
    ({"checkpoint": "/no/where"}, "there is no folder '/no/where' for checkpoints; accepted"),
    ({"checkpoint_interval": 3}, "no checkpoint folder is given; accepted: both, or neither"),
    ({"checkpoint": ".", "checkpoint_interval": 1.5}, "interval is 1.5; accepted: at least 1"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_wrong_values_are_named(given, said):
    assert said in refused(None, SparkSettings, **given)


def test_where_checkpoints_are_and_how_often(tmp_path):
    found = SparkSettings(checkpoint=tmp_path)
    assert (found.checkpoint_interval, found.checkpoints(21)) == (10, 3)
    assert SparkSettings().checkpoints(21) == 0
    assert SparkSettings(checkpoint="hdfs://far/there", checkpoint_interval=4).checkpoints(4) == 1


def test_one_process_gets_the_memory_and_a_cluster_the_executors(tmp_path, monkeypatch):
    own = {"spark.ui.enabled": "true", "spark.x": "y"}  # these win
    local = SparkSettings(master="local[*]", machines=3, memory="2g", conf=own)
    conf = local.session_conf(tmp_path)
    assert conf.items() >= {**own, "spark.driver.memory": "2g"}.items()
    assert local.session_master == "local[3]"
    cluster = SparkSettings(master="spark://127.0.0.1:1", machines=3, cores=2, memory="2g")
    conf = cluster.session_conf(tmp_path)
    assert conf.pop("spark.executor.defaultJavaOptions") == "-XX:TieredStopAtLevel=1"
    assert "spark.driver.memory" not in conf
    assert (conf["spark.cores.max"], conf["spark.driver.host"]) == ("6", "127.0.0.1")
    assert cluster.partitions == 6
    pods = SparkSettings(master="k8s://https://127.0.0.1:6443")  # which cannot reach that address
    assert "spark.driver.host" not in pods.session_conf(tmp_path)
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", "theirs")
    named = {"spark.local.dir": "/scratch", "spark.pyspark.python": "mine"}
    with opening._environment(named, tmp_path):
        found = [os.environ[name] for name in ("SPARK_LOCAL_DIRS", "PYSPARK_PYTHON")]
    assert (found, os.environ["PYSPARK_PYTHON"]) == ([*named.values()], "theirs")


def test_a_jar_goes_beside_those_of_the_user(written, tmp_path):
    jars = {"jars.packages": "io.graphframes:graphframes-spark4_2.13:0.12.1"}
    jars["jars"] = written("", "graphframes.jar")
    for kind, named in jars.items():
        settings = SparkSettings(graphframes_jar=named, conf={f"spark.{kind}": "mine"})
        assert settings.session_conf(tmp_path)[f"spark.{kind}"] == f"{named},mine"


def test_threads_of_a_local_master_are_its_cores(monkeypatch):
    monkeypatch.setenv("PREDICT_GRAPH_SPARK_MASTER", "spark://there:7077")
    assert SparkSettings().master == "spark://there:7077"
    settings = SparkSettings(master="local[4]", memory="2048M")
    assert (settings.cores, settings.session_master, settings.memory) == (4, "local[4]", "2g")
    assert settings.on(3).session_master == "local[12]"
    assert SparkSettings(master="local[4]", machines=2, cores=2).session_master == "local[4]"
    monkeypatch.setattr("predict_graph.engines.spark.session.settings.usable_cores", lambda: 6)
    assert SparkSettings(master="local[*]").session_master == "local[6]"
    said = r"machines are 3 and cores 1; accepted: local\[3\], or"
    refused(said, SparkSettings, master="local[4]", machines=3)
