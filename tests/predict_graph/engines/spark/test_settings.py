"""Settings, and what they refuse."""

import pytest

from predict_graph.engines.spark import SparkSettings
from predict_graph.errors import RequestError
from tests.refusals import refused

WRONG = [
    ({"machines": 0}, "machines is 0; accepted: 1 to 4096"),
    ({"cores": 1.5}, "cores is 1.5; accepted: 1 to 1024"),
    ({"memory": "much"}, "memory is 'much'; accepted: a size such as 900m or 4g"),
    ({"memory": "0g"}, "memory is '0g'"),
    ({"graphframes_jar": "/no/such.jar"}, "no GraphFrames jar at /no/such.jar"),
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


def test_one_process_gets_the_memory_and_a_cluster_the_executors(tmp_path):
    own = {"spark.ui.enabled": "true", "spark.x": "y"}  # these win
    local = SparkSettings(master="local[*]", machines=3, memory="2g", conf=own)
    conf = local.session_conf(tmp_path)
    assert conf.items() >= {**own, "spark.driver.memory": "2g"}.items()
    assert local.session_master == "local[3]"
    cluster = SparkSettings(master="spark://127.0.0.1:1", machines=3, cores=2, memory="2g")
    conf = cluster.session_conf(tmp_path)
    assert conf.pop("spark.executor.defaultJavaOptions") == "-XX:TieredStopAtLevel=1"
    assert "spark.driver.memory" not in conf
    assert conf["spark.cores.max"] == "6"
    assert cluster.partitions == 6


JARS = [
    ("graphframes.jar", "jars"),
    ("io.graphframes:graphframes-spark4_2.13:0.12.1", "jars.packages"),
]


@pytest.mark.parametrize(("named", "kind"), JARS)
def test_a_jar_goes_beside_those_of_the_user(tmp_path, named, kind):
    if kind == "jars":
        named = tmp_path / named
        named.write_bytes(b"")
    settings = SparkSettings(graphframes_jar=named, conf={f"spark.{kind}": "mine"})
    assert settings.session_conf(tmp_path)[f"spark.{kind}"] == f"{named},mine"


def test_threads_of_a_local_master_are_its_cores(monkeypatch):
    monkeypatch.setenv("PREDICT_GRAPH_SPARK_MASTER", "spark://there:7077")
    assert SparkSettings().master == "spark://there:7077"
    settings = SparkSettings(master="local[4]")
    assert (settings.cores, settings.session_master) == (4, "local[4]")
    assert settings.on(3).session_master == "local[12]"
    assert SparkSettings(master="local[4]", machines=2, cores=2).session_master == "local[4]"
    with pytest.raises(RequestError, match=r"machines are 3 and cores 1; accepted: local\[3\], or"):
        SparkSettings(master="local[4]", machines=3)
