import pytest

from predict_graph.errors import RequestError
from predict_graph.sizing import read_measurements


def test_the_format_of_ernest(cluster_file):
    found = read_measurements(cluster_file("ernest-rcv1.csv"))
    assert len(found) == 7
    assert found.unit == "cores"
    assert found.machines.tolist() == [32, 4, 4, 12, 12, 12, 16]
    assert found.scale[0] == 0.125
    assert found.seconds[0] == 7.94516801834
    assert found.warnings == []


def test_a_published_table_of_many_columns(cluster_file):
    everything = read_measurements(cluster_file("c3o-kmeans.tsv"))
    assert everything.columns == {
        "machines": "instance_count",
        "seconds": "gross_runtime",
        "scale": "data_size_MB",
    }
    assert everything.machine_type is None
    hidden = " ".join(everything.warnings)
    for column in ("machine_type", "'k'"):
        assert column in hidden
    one = read_measurements(
        cluster_file("c3o-kmeans.tsv"),
        where={"machine_type": "r4.2xlarge", "k": "5.0", "observations": "100000000"},
    )
    assert one.machine_type == "r4.2xlarge"
    assert one.warnings == []
    assert 0 < len(one) < len(everything)


def test_units_in_names_are_converted(written):
    path = written("nodes;runtime_ms\n2;1500\n4;900\n")
    assert read_measurements(path).seconds.tolist() == [1.5, 0.9]
    path = written("Nodes\tTime (min)\n2\t1.5\n4\t1\n")
    found = read_measurements(path)
    assert found.seconds.tolist() == [90, 60]
    assert found.scale.tolist() == [1, 1]
    assert "no column for the scale" in found.warnings[0]


def test_columns_by_name(written):
    path = written("a,b,c\n1,2,3\n4,5,6\n")
    found = read_measurements(path, scale_column="c", machines_column="a", seconds_column="b")
    assert (found.scale.tolist(), found.machines.tolist()) == ([3, 6], [1, 4])
    with pytest.raises(RequestError, match="no column 'd' for seconds; there are: a, b, c"):
        read_measurements(path, machines_column="a", seconds_column="d")
    with pytest.raises(
        RequestError, match="known to hold machines; name it with --machines-column"
    ):
        read_measurements(path)
    with pytest.raises(RequestError, match=r"'a' of .* is given for two things"):
        read_measurements(path, machines_column="a", seconds_column="b", scale_column="a")


def test_failed_runs_are_left_out_and_told(written):
    path = written(
        "scale,machines,repeat,command,started,seconds,exit_status,outcome\n"
        "1,2,1,x,t,5.0,0,ok\n1,4,1,x,t,9.0,3,failed\n1,8,1,x,t,7.0,0,timeout\n1,4,1,x,t,3.0,0,ok\n"
    )
    found = read_measurements(path)
    assert found.seconds.tolist() == [5, 3]
    assert found.broken.machines.tolist() == [4]
    assert (found.ended.machines.tolist(), found.ended.seconds.tolist()) == ([8], [7])
    assert found.warnings == ["1 run of table.csv failed and gave no time"]


def test_when_all_failed(written):
    path = written("machines,seconds,exit_status\n2,1,1\n4,1,9\n")
    with pytest.raises(RequestError, match=r"all 2 runs in .* failed"):
        read_measurements(path)


def test_a_hidden_column_is_told_but_not_one_that_follows(written):
    rows = "2,16,a,10\n2,16,b,12\n4,32,a,7\n4,32,b,8\n"
    found = read_measurements(written(f"machines,slots,variant,seconds\n{rows}"))
    assert found.varying == {"variant": 2}


BAD = {
    "text": ("machines,seconds\n2,5\nfour,3\n", [":3", "machines is 'four'"]),
    "nan": ("machines,seconds\n2,nan\n", [":2", "seconds is 'nan'"]),
    "a time of 0": ("machines,seconds\n2,0\n", [":2", "seconds is '0'"]),
    "a negative scale": ("scale,machines,seconds\n-1,2,3\n", [":2", "scale is '-1'"]),
    "infinite": ("machines,seconds\n2,5\n\n3,inf\n", [":4", "'inf'"]),
    "a missing value": ("machines,seconds\n2,\n", [":2", "seconds is ''"]),
    "a short row": ("machines,seconds\n2,5\n4\n", [":3", "1 values", "header 2"]),
    "no header": ("2,5\n4,3\n", [":1", "names the columns"]),
    "no rows": ("machines,seconds\n", ["no rows"]),
    "nothing": ("", ["is empty"]),
    "a column twice": ("machines,seconds,seconds\n1,2,3\n", [":1", "'seconds' comes twice"]),
    "no text": ("machines\0seconds\n", ["is no text"]),
}


@pytest.mark.parametrize("title", BAD)
def test_bad_files(written, title):
    text, parts = BAD[title]
    path = written(text)
    with pytest.raises(RequestError) as error:
        read_measurements(path)
    for part in [str(path), *parts]:
        assert part in str(error.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(RequestError, match=r"there is no file .*away\.csv"):
        read_measurements(tmp_path / "away.csv")
    with pytest.raises(RequestError, match="is a folder; accepted: a file"):
        read_measurements(tmp_path)


def test_a_value_that_no_row_has(written):
    path = written("machines,seconds,kind\n2,5,a\n4,3,b\n")
    with pytest.raises(RequestError, match="has kind=c; there are: a, b"):
        read_measurements(path, where={"kind": "c"})
    with pytest.raises(RequestError, match="no column 'sort' for --where"):
        read_measurements(path, where={"sort": "c"})


def test_comments_and_spaces(written):
    path = written("# my runs, of monday\n machines , seconds\n# warm\n 2 , 5\n4,3\n")
    found = read_measurements(path)
    assert found.machines.tolist() == [2, 4]
