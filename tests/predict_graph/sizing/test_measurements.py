"""Tables, models and quantities as people write them, and what cannot be read."""

from functools import partial

import pytest

from predict_graph.durations import parse_duration
from predict_graph.sizing import fit, fit_job, load_model, plan, read_design, read_measurements
from predict_graph.sizing.planning import candidates
from predict_graph.sizing.planning.candidates import read_types
from predict_graph.sizing.quantities import parse_counts, parse_money
from predict_graph.sizing.table_file import read_table
from predict_graph.sizing.tasks.assignments import read_assignments
from predict_graph.sizing.tasks.model import read_runs
from tests.refusals import refused


def test_the_format_of_ernest(shared_file):
    found = read_measurements(shared_file("ernest-rcv1.csv"))
    assert (found.unit, found.warnings) == ("cores", [])
    assert found.done.iloc[0].tolist()[:3] == [0.125, 32, 7.94516801834]


def test_a_published_table_of_many_columns(shared_file):
    everything = read_measurements(shared_file("c3o-kmeans.tsv"))
    assert [*everything.columns.values()] == ["instance_count", "gross_runtime", "data_size_MB"]
    assert everything.machine_type is None
    hidden = " ".join(everything.warnings)
    assert all(f"the column {name!r} has" in hidden for name in ("machine_type", "k"))
    where = {"machine_type": "r4.2xlarge", "k": "5.0", "observations": "100000000"}
    one = read_measurements(everything.path, where=where)
    assert one.machine_type == "r4.2xlarge"
    assert one.warnings == []
    assert 0 < len(one.runs) < len(everything.runs)
    refused("has k=99; there are: ", read_measurements, everything.path, where={"k": "99"})
    refused("no column 'sort' for --where", read_measurements, everything.path, where={"sort": "c"})


def test_a_table_without_a_scale_is_for_no_other(written):
    found = read_measurements(written("Nodes\tTime (min)\n2\t1.5\n9\t0.5\n32\t.25\n"))
    assert found.done[["scale", "seconds"]].to_numpy().tolist() == [[1, 90], [1, 30], [1, 15]]
    assert "no column for the scale" in found.warnings[0]
    model = fit_job(found)
    assert (model.fits, model.estimator.warnings_) == (None, [])
    refused("had no scale", plan, [model], [1, 2], scale=100)
    assert plan([model], [1, 2]).scale == 1


def test_columns_by_name(written):
    path = written("a,b,c\n1,2,3\n4,5,6\n")
    found = read_measurements(path, columns={"scale": "c", "machines": "a", "seconds": "b"})
    assert (found.done.scale.tolist(), found.done.machines.tolist()) == ([3, 6], [1, 4])
    said = "no column 'd' for seconds; there are: a, b, c"
    refused(said, read_measurements, path, columns={"machines": "a", "seconds": "d"})
    refused("known to hold machines; name it with --machines-column", read_measurements, path)
    said = r"'a' of .* is given for two things"
    refused(said, read_measurements, path, columns={"machines": "a", "seconds": "b", "scale": "a"})


def test_the_column_of_types_is_named_and_no_column_is_the_scale(written):
    path = written("flavor,type,nodes,size,time\nxl,sort,2,5,9\ns,sort,4,6,8\ns,k,4,6,3\n")
    named = {"type": "flavor", "scale": "none"}
    found = read_measurements(path, columns=named)
    assert (*found.runs["machine_type"], *found.runs["scale"]) == ("xl", "s", "s", 1.0, 1.0, 1.0)
    assert [*candidates.of_types(found, ["xl", "s"]).varying] == ["type"]
    chosen = read_measurements(path, columns=named, where={"Flavor": "s", "type": "sort"})
    assert chosen.runs["seconds"].tolist() == [8.0]
    refused("no column 'kind' for type; there", read_measurements, path, columns={"type": "kind"})


def test_a_hidden_column_is_told_but_not_one_that_follows(written):
    rows = "0,1.0,2,16,a,10\n1,2.0,4,32,7,12\n2,3.0,8,64,a,7\n3,4.0,16,128,a,8\n"
    found = read_measurements(written(f",job_id,machines,slots,variant,seconds\n{rows}"))
    assert found.varying == {"variant": 2}
    assert found.warnings[-1].endswith("=VALUE, or --scale-column if it is the scale")


UNITS = {
    **{"duration_hours": 3600, "hrs": 3600, "durationHours": 3600, "Time (h)": 3600},
    **{"mins": 60, "runtime_min": 60, "Elapsed minutes": 60, "wall time [min]": 60},
    **{"milliseconds": 1e-3, "runtimeMs": 1e-3, "avg_time_ms": 1e-3, "time_us": 1e-6},
    **{"walltime": 1, "makespan": 1, "elapsed time": 1, "ElapsedRaw": 1, "times": 1},
    **{"total_seconds": 1, "execution_time_in_secs": 1, "days": 86400, "train_time": 1},
}
TIMES = {
    **{"00:10:05": 605, "1-02:03:04": 93784, "05:20": 320, "1-02:03": 93780, "~12": 12},
    **{"1h30m": 5400, "2 min 3 s": 123, "120 ms": 0.12, "3 hours": 10800, "≈ 1h": 3600},
    **{"0 days 00:01:40.500000": 100.5, "1.5e2": 150, "~5 min": 300},
}
MACHINES = "NodeCount", "scaleout", "#nodes", "num_workers", "NNodes", "number of GPUs", "VMs"
DELIMITED = [
    "nodes;time\n2;5,25\n4;1.003,5\n",
    "nodes;time\n# both warm\n2;5.25\n4;1003.5\n",
    "# my runs, of monday\n nodes , time\n# warm\n 2 , 5.25\n4,1003.5\n",
    "nodes\ttime\n2\t5,25\n4\t1003,5\n",
    "nodes\tseconds\r\n2\t5,25\r\n4\t1003,5\r\n".encode("utf-16"),  # as Windows writes it
    'nodes,"time; s"\n2,"5,25"\n4,"1,003.5"\n',
    "nodes   time\n    2   5.25\n    4 1003.5\n(2 rows)\n",
    "nodes  elapsed time\n2      5,25\n4      1003,5\n",
    "# nodes time\n2 5.25\n4 1003.5\n",
    "| nodes | time |\n|-------|-----:|\n| 2 | 5.25 |\n| 4 | 1003.5 |\n",
    "nodes,time,\n2,5.25,\n4,1003.5,\n",
    *(f"nodes,time\n2,5.25\n4,1{space}003.5\n" for space in " \u00a0\u2009\u202f'"),
    "SEP=;\nnodes;time\n2;5,25\n4;1 003,5 s\n",  # as Excel asks for
    *(f"nodes,time,a; b\n2,5.25,{cell}\n4,1003.5,c\n" for cell in ("c", "c; d")),
]


TABLES = [
    # The unit is in the name of the column, in the cell, or in a column of its own.
    *((f"nodes,{name}\n1,10\n2,5\n", [1, 2], [10 * s, 5 * s]) for name, s in UNITS.items()),
    *((f"machines,time\n2,{cell}\n", [2], [seconds]) for cell, seconds in TIMES.items()),
    ("nodes,time,unit\n2,1.5,min\n4,80,s\n8,900,Ms\n", [2, 4, 8], [90, 80, 0.9]),
    ("nodes,time,unit\n2,1.5,GPU\n4,80,GPU\n", [2, 4], [1.5, 80]),
    # The minimum is not minutes.
    ("nodes,runtime_min,runtime_max,runtime_mean\n1,8,12,10\n2,4,6,5\n", [1, 2], [10, 5]),
    *((f"{name},time\n2,5\n", [2], [5]) for name in MACHINES),
    ('nodes,time\n2,"0,912"\n4,"1,234"\n', [2, 4], [0.912, 1.234]),
    ("nodes;time\n2;1.234\n4;~987,5\n", [2, 4], [1234, 987.5]),
    *((text, [2, 4], [5.25, 1003.5]) for text in DELIMITED),
]


@pytest.mark.parametrize(("text", "machines", "seconds"), TABLES)
def test_tables_as_people_and_programs_write_them(written, text, machines, seconds):
    found = read_measurements(written(text))
    assert found.done.machines.tolist() == machines
    assert found.done.seconds.tolist() == pytest.approx(seconds)
    assert not any("no time" in warning for warning in found.warnings)


def test_no_process_is_called_a_machine(written):
    runs = written("nprocs,time\n2,2902000\n4,304000\n6,214000\n8,178000\n9,-1\n")
    model = fit_job(read_measurements(runs), "ernest")
    said = f"{model} {plan(model, [1])}"
    parts = "from 2 to 4 processes the time", "1 process, ", "so 178000 to 2902000 are seconds"
    assert all(part in said for part in parts)
    assert "machine" not in said


OUTCOMES = [
    *[("outcome", "SUCCESS", "FAILED"), ("status", "succeeded", "OOM")],
    *[("success", "true", "false"), ("succeeded", "1", "0"), ("completed", "yes", "no")],
    *[("exit_code", "0", "137"), ("ExitCode", "0:0", "0:9"), ("rc", "0", "-9")],
    *[("failed", "False", "True"), ("error", "", "java.lang.OutOfMemoryError"), ("oom", "0", "1")],
    *[("finalStatus", "SUCCEEDED", "FAILED"), ("State", "COMPLETED", "CANCELLED by 1000")],
    *[("status", "ok", "something odd"), ("job_status", "Passed", "NODE_FAIL")],
    *[("State", "CD", short) for short in ("F", "NF", "OOM", "CA", "PR", "S")],
    *[("state", "COMPLETED", "CA"), ("success", "T", "F"), ("failed", "F", "T")],
    *[("status", "✓", "✗"), ("ok", "✔️ yes", "✘"), ("success", "✓", ""), ("result", "✅", "❌")],
    *[("error_message", "", "Container killed"), ("signal", "0", "SIGKILL"), ("signal", "0", "9")],
    *[("signal", "none", "KILL"), ("errormsg", "", "-5 of 7")],
    *[("State", "done", "killed"), ("status", "0", "137"), ("state", "0", "200")],
]


@pytest.mark.parametrize(("column", "fine", "wrong"), OUTCOMES)
def test_outcomes(written, column, fine, wrong):
    rows = f"1,9,{fine}\n2,5,{fine}\n4,3,{wrong}\n8,2,{fine}\n"
    found = read_measurements(written(f"nodes,time,{column}\n{rows}"))
    assert found.done.machines.tolist() == [1, 2, 8]
    assert found.of("failed").machines.tolist() == [4]
    assert found.varying == {}


def test_what_is_no_outcome(written):
    rows = "1,9,CA,57,0.3,8,0\n2,5,NY,3,0.4,1,1\n2,4,CA,57,0.3,8,7\n"
    found = read_measurements(written(f"nodes,time,state,completed,error,result,failed\n{rows}"))
    assert len(found.done) == 3
    assert set(found.varying) == {"state", "completed", "error", "result", "failed"}
    alone = read_measurements(written("nodes,time,state\n1,9,CA\n2,5,CA\n2,4,PR\n"))
    assert set(alone.varying) == {"state"}
    mixed = read_measurements(written("nodes,time,error\n1,9,\n2,5,OOM\n4,3,137\n"))
    assert mixed.done.machines.tolist() == [1]


@pytest.mark.parametrize("cell", ["OOM", "-1", "nan", "", "0", "failed", "N/A", "inf"])
def test_a_cell_without_a_time_is_a_failed_run(written, cell):
    found = read_measurements(written(f"nodes,time\n1,9\n2,5\n4,{cell}\n8,2\n"))
    assert found.done.machines.tolist() == [1, 2, 8]
    assert found.of("failed").machines.tolist() == [4]
    assert f"table.csv:4: time is {cell!r}, which is no time" in " ".join(found.warnings)


def test_a_run_that_took_longer_than_it_says(written):
    rows = "1,>60,ok\n2,50,TIMEOUT\n4,30,ok\n8,20,RUNNING\n16,0,PENDING\n"
    found = read_measurements(written(f"nodes,time,status\n{rows}"))
    assert found.done.machines.tolist() == [4]
    late = found.of("timeout")
    assert (late.machines.tolist(), late.seconds.tolist()) == ([1, 2, 8], [60, 50, 20])
    assert len(found.of("failed")) == 0
    short = read_measurements(written("nodes,time,state\n1,60,TO\n2,50,R\n4,30,CD\n8,0,PD\n"))
    assert short.of("timeout").machines.tolist() == [1, 2]
    assert len(short.runs) == 3


def test_scales_with_units_are_in_the_unit_of_the_first(written):
    found = read_measurements(written("nodes;time;size\n1;9;500 MB\n2;5;1,5GB\n4;3;2GiB\n"))
    assert found.done.scale.tolist() == pytest.approx([500, 1500, 2**31 / 1e6])
    assert "the scale is in MB, the unit of the first row" in found.warnings


def test_the_table_of_slurm(written):
    path = written(
        "JobID           NNodes    Elapsed      State ExitCode \n"
        "------------ -------- ---------- ---------- -------- \n"
        "101                 1 1-00:00:00  COMPLETED      0:0 \n"
        "101.batch           1 1-00:00:00  COMPLETED      0:0 \n"
        "102                 2   13:00:00  COMPLETED      0:0 \n"
        "103                 4   00:02:00     FAILED      1:0 \n"
    )
    found = read_measurements(path)
    assert found.done.machines.tolist() == [1, 2]
    assert found.done.seconds.tolist() == [86400, 46800]
    assert found.of("failed").machines.tolist() == [4]
    assert "left out of table.csv: 1 SLURM step" in found.warnings


def test_a_mixture_of_jobs_does_not_fit(written):
    rows = [
        f"{m},{10 * 2**j * (0.1 + 0.9 / m) * (1 + 0.01 * ((j + m) % 3)):.2f},job{j}"
        for j in range(9)
        for m in (2, 4, 8, 16)
    ]
    path = written("\n".join(["nodes,time,job", *rows]))
    mixed = fit_job(read_measurements(path))
    assert mixed.misfit.startswith("the model does not fit: its 90% intervals hold ")
    assert "of 36 runs; 'job' may explain the others" in mixed.misfit
    assert not mixed.to_dict()["fits"]
    assert "does not fit" in mixed.answer.sentence
    one = fit(path, where="job=job3", history="none")
    assert one.misfit is None
    assert one.to_dict()["fits"]


CATALOGUES = {
    "renamed": "Instance Type;vCPUs;Memory (GiB);Price per hour\nsmall;2;4,5;0,1\nbig;8;32;0,4\n",
    "AWS": "Name,API Name,Instance Memory,vCPUs,Linux On Demand cost\n"
    'Small one,small,"4,608 MiB",2 vCPUs,$0.100000 hourly\nBig,big,512 MiB,8 vCPUs,unavailable\n',
    "Google": "name,guest_cpus,memory_mb,price_per_hour\nsmall,2,4.5,0.1\nsmall,2,4.5,0.1\n",
    "Azure": "MemoryInMB    Name    NumberOfCores    RetailPrice\n"
    "------------  ------  ---------------  ---\n4.5  small  2  0.1\n",
}


@pytest.mark.parametrize("rows", CATALOGUES.values(), ids=CATALOGUES)
def test_machine_types_as_clouds_list_them(written, rows):
    types = read_types(written(rows))
    assert (types["small"].cores, types["small"].memory, types["small"].price) == (2, 4.5, 0.1)
    assert "big" not in types or types["big"].memory in (32, 0.5)


# Tables and models that cannot be read: one sentence names the file and what is wrong.


def read_task_runs(path):
    return read_runs(read_table(path))[0]


def read_candidates(path):
    return read_assignments([path])


STAGED = "name,cpu_speed,stage_seconds,staged_latency\na,1,5,0\n"
TYPES = "type,cores,usd_per_hour\n"
REFUSED = [
    (read_measurements, "machines,seconds\n2,5\nfour,3\n", ":3: machines is 'four'"),
    (read_measurements, "machines,seconds\n2,0\n", ":2: seconds is '0'"),
    (read_measurements, "machines,seconds\n\n3,inf\n", ":3: .*'inf'"),
    (read_measurements, "machines,seconds,status\n2,5,0\n4,3,1\n", "either.*exit_status"),
    (read_measurements, "machines,seconds\n2,5\n4\n", ":3.*1 values.*header 2"),
    (read_measurements, "2,5\n4,3\n", ":1.*names the columns"),
    (read_measurements, "machines\tseconds\n2\t12,345 s\n", ":2: seconds .*fraction or thousands"),
    (read_measurements, "machines,seconds\n", "no rows"),
    (read_measurements, "", "is empty"),
    (read_measurements, "machines,seconds,seconds\n1,2,3\n", ":1.*'seconds' comes twice"),
    (read_measurements, "machines,seconds,status\n2,5,S\n4,3,F\n", "letters in the column 'status"),
    *((read_measurements, f"nodes,time,ok\n2,5,yes\n4,3,{x}\n", ":3") for x in ("maybe", "-", "2")),
    (read_measurements, "machines,seconds,failed\n2,5,✓\n4,3,✗\n", "'failed'.*either"),
    (read_measurements, "machines,seconds,size\n2,5,10GB\n4,3,20\n", "1 of 2 rows.*accepted"),
    (read_measurements, "machines\0seconds\n", "is no text in UTF-8 or UTF-16"),
    (read_measurements, "nodes,cpu_time,start_time\n1,8,12\n2,4,6\n", "known to hold seconds"),
    (read_design, "scale\n1\n", "no column 'machines'"),
    (read_design, "machines\n2\n1.5\n", ":3: machines is '1.5'"),
    (read_design, "scale,machines\nnan,1\n", ":2: scale is 'nan'"),
    (read_design, "machines,repeats\n1,1.5\n", ":2: repeats is '1.5'"),
    (read_design, "machines,seconds\n1,2\n", "a column 'seconds', which is written"),
    (read_types, f"{TYPES}a,4,-1\n", ":2: usd_per_hour is '-1'"),
    (read_types, f"{TYPES}a,4,1\na,4,2\n", ":3: the type 'a' has other cores"),
    (read_types, f"{TYPES},4,1\n", ":2: the machine type is empty"),
    (candidates.read_candidates, "type,cores,machines\na,4,2:4\nb,4,0\n", ":3: machines are '0'"),
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
    (partial(plan, machines=2), '{"by_machines": [], "cost_model": {"machines": []}}', "a cluster"),
]


@pytest.mark.parametrize(("read", "text", "said"), REFUSED)
def test_what_cannot_be_read_is_refused(written, read, text, said):
    path = written(text)
    assert path.name in refused(said, read, path)


READ = {
    parse_duration: {
        **{"90": 90, "90s": 90, "10m": 600, "10min": 600, "1h30m": 5400, "1h 30m 5s": 5405},
        **{"0.5h": 1800, " 2D ": 172800, ".25": 0.25},
    },
    parse_counts: {"8": [8], "2:5": [2, 3, 4, 5], "2:9:3": [2, 5, 8], "8,2,4:5,4": [2, 4, 5, 8]},
    parse_money: {"15": 15, "$5.60": 5.6, "1e2 USD": 100},
}
WRONG_TEXTS = {
    parse_duration: ["", "0", "0s", "-5", "5x", "ten", "1h30", "30 20", "nan", "inf", "s"],
    parse_counts: [
        *("", "0", "0:4", "a:b", "1:2:3:4", "2.5", "-1:4", "2:", "1:4:0", "8:2", "1:999999"),
        "99999999999999",
    ],
    parse_money: ["", "0", "-1", "5 EUR", "nan", "inf"],
}


VALUES = [(p, t, v) for p, table in READ.items() for t, v in table.items()]


@pytest.mark.parametrize(("parse", "text", "value"), VALUES)
def test_quantities_as_people_write_them(parse, text, value):
    assert parse(text) == value


WRONG = [(p, text) for p, texts in WRONG_TEXTS.items() for text in texts]


@pytest.mark.parametrize(("parse", "text"), WRONG)
def test_other_texts_are_refused(parse, text):
    assert repr(text) in refused(r"what (is|are) .*accepted", parse, text, "what")
