"""Wrong requests and failed jobs: one sentence, its exit status, nothing half written."""

import re

import pytest

import predict_graph
from predict_graph.resources import Measured, ResourceProfile, write_profile
from predict_graph.sizing import save_model
from tests.predict_graph.cli.conftest import TYPES
from tests.predict_graph.cli.events import start, steps

GRAPH = "barabasi-albert:n=300,m=3,seed=1"

# A command, and what the sentence has in it. G stands for a graph.
REFUSED = """
predict pagerank G --ratio=1 --ratio=half | --ratio is 'half'; accepted: a number
predict pagerank G --train-ratios a,b | 'a,b'
predict pagerank G -p damping | 'damping' | NAME=VALUE
predict pagerank G -p damping=.8 -p damping=.9 | damping is given twice
predict pagerank G --sped 1 | --sped
predict pagerank G --plot p.doc | p.doc | .png
predict pageranks G | unknown algorithm 'pageranks' | did you mean pagerank?
predict networkx:pagerank G --engine spark | a function of Python, which runs on this machine
predict pagerank star:n=9 --header | star:n=9 has no columns to choose | drop header
compare-functions star:n=9 pagerank | 'pagerank' is no function | module:function
predict pagerank G -p epsilom=1 | did you mean epsilon?
predict pagerank point.csv | did you mean points.csv?
predict pagerank points.csv --plugin p.py --json p.py | would overwrite what
predict p.py:f points.csv --json p.py | --json p.py would overwrite what ALGORITHM names, p.py
predict pagerank G -q --json "" | cannot write .: it is a folder
predict pagerank G --report r.pdf | accepted: a name in .html
predict pagerank | GRAPH
predict pagerank star:n=9 --profile here.json | accepted: with --target-profile
predict pagerank G --arg k=3 | --arg is for functions
predict networkx:clustering G -p k=3 | --arg NAME=VALUE
predict networkx:clustering G --workers 0 | --workers is read for | accepted: --arg workers=VALUE
predict networkx:clustering G --no-probe | --probe is read for algorithms
predict networkx:clustering G --engine igraph | unknown engine 'igraph' | local
predict ~nosuch/f.py:f G | ~nosuch/f.py cannot be loaded
run pagerank G -q -v | -q and -v are both given
run pagerank G --events - --json - | --events - and --json - would both write to standard output
run pagerank G --expect list.json | is not a prediction of an algorithm; accepted: a file
run pagerank points.csv --json ./points.csv | --json ./points.csv would overwrite what GRAPH names
run pagerank points.csv --history h.sqlite --json h.sqlite | would overwrite what
run pagerank rmat:scale=30,edge_factor=64 | the limit
run pagerank /dev/zero | is a device; accepted
run pagerank no.csv --out r.doc | r.doc | accepted: a name in .csv, .tsv, .parquet
run pagerank G --checkpoint . | --checkpoint is no option of the engine 'local'
predict graphx:pageRank G --engine spark --checkpoint . | graphx:pageRank keeps its own state
run pagerank no.csv --out away/r.csv | no folder away
learn --history none | to learn takes a history
learn --budget unlimited --history h.sqlite | a time such as 10m
compare-samplers G --samplers rj,x | sampler 'x'
sample points.csv --out linked.csv | would overwrite what
sample tab.csv --ids string --ratio 1 --out sample.txt | holds a tab
pedict | pedict
predict networkx:pagerank --vertices 1,5M --edges 9 | vertices are '1,5M' | such as 5e7, 50M
list sampler | 'sampler' | did you mean samplers? | cost-models
list samplers --plugin loop.py | cannot be loaded
list samplers --plugin missing.py | missing.py cannot be loaded: No such file or directory
list samplers --plugin types.csv | its name does not end in .py; accepted: a Python file
list samplers --plugin folder.py | is a folder; accepted: a file
calibrate --serve 0 --peer localhost:1 | --peer is not read together with --serve
calibrate --peer 127.0.0.1:² | accepted: HOST:PORT
calibrate --master local --no-disk | --no-disk is not read together with --master
history list --history none | 'none'
history list --kind foo --history h.sqlite | 'foo'; accepted: run, sample, all
history show 9 --history h.sqlite | 9 | h.sqlite
history import-eventlog types.csv --history h.sqlite | is not an event log of Spark
history import-eventlog start.log --history h.sqlite | has no tasks
history import-eventlog steps.log --vertices 0 --history h.sqlite | vertices is 0 | at least 1
watch nowhere | there is no nowhere; accepted: the address of a running application
watch steps.log --iterations 0 | iterations are 0; accepted: at least 1
watch steps.log --iterations 3 --expect here.json | both say how many
design --scale 1:10 --machines 1:8 --budget 20 --terms cube | unknown terms 'cube' | ernest, masha
design --scale 1:10 --machines 1:8 --budget 20 --criterion i --target 8:64 | SCALE@MACHINES
collect --design design.csv --timeout soon -- true {machines} | the timeout is 'soon'
collect --design design.csv --timeout 99999999999999999999 -- true {machines} | timeout
collect --design design.csv --parallel 99999999999999999999 -- true {machines} | parallel
collect --design design.csv --out design.csv -- true {machines} | would overwrite what
collect --design zeros.txt -- true | is a device; accepted
fit points.csv --where machines | 'machines'; accepted: NAME=VALUE
fit points.csv --types types.csv | no column for the machine type
fit points.csv --term scale^2 | terms is no option of the model 'auto'
fit odd.csv --types types.csv | on odd, which no row describes | small
plan model.json | --machines N:M | --assignments
plan model.json --machines 2:8 --scale all | --scale | 'all'
plan model.json --machines 2 --confidence often | 'often' | such as 0.9 or 90%
plan model.json --machines 2 --prices no.csv | no file no.csv
plan =model.json --machines 2 | TYPE=MODEL.json
plan here.json --assignments here.json | no model of a task
plan m.json --assignments here.json --machines 1:2 | --machines does not go with --assignments
plan model.json --machines 2 --with edges=5 | --with goes with --assignments only
profile --with edges=1 --with edges=2 -- true | --with edges is given twice
plan model.json --machines 2 --spare-test 2m | a spare test is for spare machines | --spare N
plan model.json --machines 2 --executor-cores 2 | model.json is no event log
next odd.csv --machines 2 --candidates types.csv | runs of odd.csv are on odd | small, big, lean
next none.csv --machines 2 --candidates types.csv --run --scale 0 -- true {machines} | scale is '0
next small.csv --machines 2 --candidates free.csv | free.csv:2 | price_per_hour is '0'
next small.csv --machines 2 --candidates types.csv --run | --run needs a command
next small.csv --machines 2 --candidates types.csv --run -- true | does not use {machine
next small.csv --machines 2 --candidates types.csv --like odd | --like names a past job
next small.csv --machines 2 --candidates types.csv --max-runs 3 | --max-runs goes with --run only
calibrate --serve 99999 | 99999 | 0 to 65535
calibrate --machines 2 | --machines counts executors | --master
profile --with edges=-1 -- true | 'edges=-1' | NAME=NUMBER, from 0
next points.csv | next needs --machines N:M, or --candidates FILE
next types.csv --machines 2 --seconds-column cores --machines-column memory_gb | several types
profile --out p.csv -- true | --resources | --with
predict pagerank point.csv --plot - | cannot draw -
run pagerank G --events . | it is a folder
run pagerank G --json x.json --out x.json | --out and --json name one file, x.json
sample G --out s.doc | s.doc | .parquet
history show x | 'ID'; accepted: a whole number
history show 99999999999999999999 --history h.sqlite | 64 bits
watch steps.log --patience soon | the patience is 'soon'
list things | 'things' | samplers | cost-models
collect -- true | --design | accepted: CSV with
profile --resources missing.json -- true | no file missing.json
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of what the commands read, which has to stay as it is."""
    folder = tmp_path_factory.mktemp("files")
    runs = "machine_type,machines,seconds\n{0},2,5\n{0},4,3\n"
    log = [start(9.0), *steps(4, 10.0)]
    texts = {
        "design.csv": "machines\n1\n2\n",
        "points.csv": "machines,seconds\n1,90\n2,50\n4,30\n8,20\n",
        "types.csv": TYPES,
        "list.json": "[1]",
        "p.py": "",
        "tab.csv": 'a,"tab\there"\n"tab\there",b\nb,a\n',
        "free.csv": TYPES.replace("0.1", "0"),
        "odd.csv": runs.format("odd"),
        "small.csv": runs.format("small"),
        "start.log": log[0],
        "steps.log": "".join(log),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "folder.py").mkdir()
    links = {"loop.py": "loop.py", "linked.csv": "points.csv", "zeros.txt": "/dev/zero"}
    for name, target in links.items():
        (folder / name).symlink_to(target)
    save_model(predict_graph.fit(folder / "points.csv", "ernest"), folder / "model.json")
    attributes = {"cpu_cores": Measured(2.0, "cores", 0.0, 3)}
    write_profile(ResourceProfile("x", "2026-01-01", 9.0, attributes), folder / "here.json")
    return folder


def contents(folder):
    """Return what is in a folder, but for a history, which commands may make."""
    kept = (path for path in folder.iterdir() if path.name != "h.sqlite")
    return {path: path.read_bytes() if path.is_file() else None for path in kept}


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_a_wrong_request_is_refused(program, files, monkeypatch, line):
    monkeypatch.chdir(files)
    before = contents(files)
    command, *parts = line.split(" | ")
    program(re.sub(r"\bG\b", GRAPH, command)).is_refused(*parts)
    assert contents(files) == before


# Failed jobs


ERRORS = [
    (ValueError("in\ntwo lines"), "internal error, please report it: ValueError: in two lines"),
    (MemoryError(), "there is not enough memory"),
    (MemoryError("for 8 EiB"), "there is not enough memory: for 8 EiB"),
]


@pytest.mark.parametrize(("error", "said"), ERRORS)
def test_an_error_inside_is_told_in_one_line(program, monkeypatch, error, said):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("predict_graph.iterations.estimate_iterations", fail)
    result = program("predict", "pagerank", GRAPH, "--method", "completion", status=1)
    assert result.lines == [f"error: {said}"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "predict", "validate"])
def test_an_answer_is_given_though_the_history_cannot_be_written(program, tmp_path, command):
    (tmp_path / "file").touch()
    more = ("--history", tmp_path / "file" / "h.sqlite", "--json", "-")
    result = program(command, "pagerank", "barabasi-albert:n=300,m=2,seed=1", *more)
    assert result.answer["iterations"]
    if command != "predict":  # which may do without sample runs
        assert "could not be written" in result.err
        assert "the run is not kept" in result.err


def test_odd_names_of_files_are_no_internal_errors(program, folder):
    (folder / "design.csv").write_text("machines\n1\n")
    program('collect --design design.csv --logs "" -- true {machines}', status=0)
    program("history list --history ~nosuch/h.sqlite", status=0)
