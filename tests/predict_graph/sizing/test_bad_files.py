"""Tables and models that cannot be read: one sentence that names the file and what is wrong."""

import pytest

from predict_graph.errors import RequestError
from predict_graph.sizing import load_model, read_design, read_measurements, read_types
from predict_graph.sizing.planning.predicted import read_job_model
from predict_graph.sizing.table_file import read_table
from predict_graph.sizing.tasks.assignments import read_assignments
from predict_graph.sizing.tasks.model import read_runs


def read_task_runs(path):
    return read_runs(read_table(path))


def read_candidates(path):
    return read_assignments([path])


def read_model(path):
    return read_job_model(path, None, None)


STAGED = "name,cpu_speed,stage_seconds,staged_latency\na,1,5,0\n"
TYPES = "type,cores,usd_per_hour\n"
REFUSED = [
    (read_measurements, "machines,seconds\n2,5\nfour,3\n", ":3: machines is 'four'"),
    (read_measurements, "machines,seconds\n2,0\n", ":2: seconds is '0'"),
    (read_measurements, "machines,seconds\n\n3,inf\n", ":3: .*'inf'"),
    (read_measurements, "machines,seconds,status\n2,5,0\n4,3,1\n", "either.*exit_status"),
    (read_measurements, "machines,seconds\n2,5\n4\n", ":3.*1 values.*header 2"),
    (read_measurements, "2,5\n4,3\n", ":1.*names the columns"),
    (read_measurements, "machines\tseconds\n2\t12,345\n", ":2: seconds .*fraction or thousands"),
    (read_measurements, "machines,seconds\n", "no rows"),
    (read_measurements, "", "is empty"),
    (read_measurements, "machines,seconds,seconds\n1,2,3\n", ":1.*'seconds' comes twice"),
    (read_measurements, "machines,seconds,status\n2,5,S\n4,3,F\n", "letters in the column 'status"),
    (read_measurements, "machines,seconds,failed\n2,5,✓\n4,3,✗\n", "'failed'.*either"),
    (read_measurements, "machines,seconds,size\n2,5,10GB\n4,3,20\n", "1 of 2 rows.*accepted"),
    (read_measurements, "machines\0seconds\n", "is no text"),
    (read_measurements, "nodes,cpu_time,start_time\n1,8,12\n2,4,6\n", "known to hold seconds"),
    (read_design, "scale\n1\n", "no column 'machines'"),
    (read_design, "machines\n2\n1.5\n", ":3: machines is '1.5'"),
    (read_design, "scale,machines\nnan,1\n", ":2: scale is 'nan'"),
    (read_design, "machines,repeats\n1,1.5\n", ":2: repeats is '1.5'"),
    (read_design, "machines,seconds\n1,2\n", "a column 'seconds', which is written"),
    (read_types, f"{TYPES}a,4,-1\n", ":2: usd_per_hour is '-1'"),
    (read_types, f"{TYPES}a,4,1\na,4,2\n", ":3: the type 'a' has other cores"),
    (read_types, f"{TYPES},4,1\n", ":2: the machine type is empty"),
    (read_task_runs, "a,b\n1,2\n", "no column 'seconds'"),
    (read_task_runs, "seconds\n1\n", "no column of numbers"),
    (read_task_runs, "seconds,cpu_speed\n1,1\n2,-5\n", ":3: cpu_speed is '-5'; .* number from 0"),
    (read_task_runs, "cpu_speed,seconds\n1,0\n", ":2: seconds is '0'; .* number above 0"),
    (read_task_runs, "cpu_speed,seconds,utilization\n1,2,1.5\n", "is '1.5'; .* from 0 to 1"),
    (read_candidates, "name,cpu_speed\na,fast\n", ":2: cpu_speed is 'fast'"),
    (read_candidates, STAGED, "has a column staged_latency and none latency"),
    *(
        (load_model, text, "is no model; accepted")
        for text in ("", "{", "[1]", '{"kind": "recipe"}', "scale,machines\n1,2\n")
    ),
    (load_model, '{"kind": ' + "[" * 900 + "]" * 900 + "}", "nested too deeply"),
    (read_model, '{"by_machines": [], "cost_model": {"machines": []}}', "prediction on a cluster"),
]


@pytest.mark.parametrize(("read", "text", "said"), REFUSED)
def test_what_cannot_be_read_is_refused(written, read, text, said):
    path = written(text)
    with pytest.raises(RequestError, match=said) as error:
        read(path)
    assert path.name in str(error.value)
    assert "\n" not in str(error.value)
