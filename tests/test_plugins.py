"""Plug-ins: of the registry, of other installed packages, and in a file of the user."""

import pickle
import re
import sys
from textwrap import indent

import pytest

import predict_graph
from predict_graph.plugin_files import load_plugin, loaded_plugins
from predict_graph.plugins import Registry, registrations
from predict_graph.transforms import TRANSFORMS
from tests.distributions import install
from tests.refusals import refused

GOOD = """
from predict_graph import register_transform

@register_transform("{name}", "{summary}")
def transform(threshold, ratio):
    return threshold
"""
pytestmark = pytest.mark.usefixtures("only_built_in")
GRAPH = "barabasi-albert:n=3000,m=3,seed=1"


@pytest.fixture
def plugin(written):
    """Write a plug-in file and return its path."""
    return lambda source, name="mine.py": written(source, name)


def good(name="kept", summary="keeps the threshold"):
    return GOOD.format(name=name, summary=summary)


def test_a_file_registers(plugin):
    plugin("NAME = 'kept'", "beside_a_plugin.py")
    file = plugin("from beside_a_plugin import NAME" + good().replace('"kept"', "NAME"))
    module = predict_graph.load_plugin(file)
    assert TRANSFORMS.get("kept").threshold is module.transform
    assert TRANSFORMS.origin("kept") == "registered"
    assert loaded_plugins() == [str(file)]
    assert pickle.loads(pickle.dumps(module.transform)) is module.transform


def test_loading_again_does_nothing_unless_the_file_has_changed(plugin):
    file = plugin(good())
    assert load_plugin(file) is load_plugin(str(file))
    (file.parent / "there").mkdir()
    assert load_plugin(plugin(good("two"), "there/mine.py")).__name__ != load_plugin(file).__name__
    plugin(good("other"))
    load_plugin(file)
    assert "other" in TRANSFORMS.names()
    assert "kept" not in TRANSFORMS.names()


WRONG = {
    "syntax": ("x = 1\ndef broken(:\n", "line 2: SyntaxError: invalid syntax"),
    "import": ("import no_such_module_here\n", "line 1: ModuleNotFoundError: No module named"),
    "raising": ("\n\nraise OSError('no\\ndisk')\n", "line 3: OSError: no disk"),
    "deep": ("def f():\n    return 1 / 0\n\nf()\n", "line 2: ZeroDivisionError: division by zero"),
    "exit": ("import sys\nsys.exit(3)\n", r"line 2: it ends the program \(SystemExit\)"),
    "own exit": ("class Own(BaseException): ...\nraise Own\n", "line 2: Own"),
    "nothing": ("x = 1\n", "it registers no plug-in"),
    "no text": ("\0", "(SyntaxError|ValueError): source code (string )?cannot contain null"),
    "taken": (good("same-threshold"), "line 4: the transform 'same-threshold' is already regist"),
    "another's": (good("kept"), "line 4: the transform 'kept' is already registered"),
    "twice": (good("a") + good("a"), "line 10: the transform 'a' is already registered"),
    "no name": (good(""), "line 4: the transform is registered as ''; accepted: a name"),
}


FIRST = good("first-of-it") + "\n"


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_fails_says_which_where_and_why_and_leaves_nothing(plugin, case, program):
    source, text = WRONG[case]
    if case != "nothing":  # what comes before it is undone, and counts as lines
        source, lines = FIRST + source, FIRST.count("\n")
        text = re.sub(r"^line (\d+)", lambda found: f"line {int(found[1]) + lines}", text)
    load_plugin(plugin(good("kept"), "before.py"))
    file, modules, before = plugin(source), set(sys.modules), registrations()
    refused(f"^the plug-in file {file} cannot be loaded: {text}", load_plugin, file)
    assert registrations() == before
    assert {name for name in set(sys.modules) - modules if "mine" in name} == set()
    said = f"error: the plug-in file {file} cannot be loaded: "
    program("list", "transforms", "--plugin", file).is_refused(said)


SAMPLER = """
import numpy as np
from predict_graph.iterations import SAMPLERS
from samplers import Sampler
from samplers.base import Visits

@SAMPLERS.register("mine")
class Mine(Sampler):
    '''What the test wants.'''

    name = "mine"

    def _visit(self, graph, target, max_edges, state):
        {body}
"""
MODEL = """
import numpy as np
from predict_graph.prediction import COST_MODELS

@COST_MODELS.register("mine")
class Mine:
    '''What the test wants.'''

    terms_, r2_ = {{"active_vertices": 1.0}}, 0.5

    def fit(self, X, y, sample_weight=None):
        {fit}

    def predict(self, X):
        {predict}
"""
TRANSFORM = """
from predict_graph import register_transform

@register_transform("mine", "what the test wants")
def mine(threshold, ratio):
    {body}
"""
PROGRAM = """
import numpy as np
from predict_graph.algorithms import ALGORITHMS, VertexProgram

@ALGORITHMS.register("mine")
class Mine(VertexProgram):
    name, summary, combiner = "mine", "what the test wants", "max"

    def initial(self, graph):
        return np.zeros(graph.vertices)

    def update(self, state, combined, received):
        {body}
"""


PREDICT = f"predict pagerank {GRAPH}"
SAMPLE = f"sample {GRAPH} --out x.csv --sampler mine"
COMPARE = f"compare-samplers {GRAPH} --samplers mine"
RAISES = "raise ValueError('full moon')"
BAD = "returned wrong vertices"
VISITS = [
    (RAISES, f"{PREDICT} --sampler mine", "failed (mine.py, line 14): ValueError: full moon"),
    ("return None", SAMPLE, "failed: TypeError: _visit returned None; accepted: Visits of"),
    ("return Visits(np.array([0.5]))", SAMPLE, f"{BAD}: vertices must be a vector of integers, "),
    ("return Visits(np.arange(2701, 3001))", COMPARE, f"{BAD}: vertex 3000 does not exist; "),
    ("return Visits(np.array([4, 5]), capped=True)", SAMPLE, f"{BAD}: 2 of 300; accepted: "),
]
FAILING = {
    **{v: (SAMPLER.format(body=v), how, f"the sampler 'mine' {said}") for v, how, said in VISITS},
    "transform raises": (
        TRANSFORM.format(body="return threshold / {}[ratio]"),
        f"{PREDICT} --transform mine",
        "the transform 'mine' failed (mine.py, line 6): KeyError: 0.1",
    ),
    "model raises": (
        MODEL.format(fit="raise ArithmeticError('odd')", predict="return np.ones(len(X))"),
        f"{PREDICT} --cost-model mine",
        "the cost model 'mine' failed (mine.py, line 12): ArithmeticError: odd",
    ),
    "model predicts NaN": (
        MODEL.format(fit="return self", predict="return np.full(len(X), np.nan)"),
        f"{PREDICT} --cost-model mine",
        "the cost model 'mine' predicted nan seconds; accepted: finite numbers of at least 0",
    ),
    "engine raises": (
        "from predict_graph.engines import ENGINES\n\n@ENGINES.register('mine')\ndef mine(): 1 / 0",
        f"run pagerank {GRAPH} --engine mine",
        "mine.py failed: line 4: ZeroDivisionError: division by zero",
    ),
    "program ends": (
        PROGRAM.format(body="raise SystemExit"),
        f"run mine {GRAPH}",
        "the vertex program 'mine.update' failed (mine.py, line 13): SystemExit",
    ),
    "program raises in the process of validate": (
        PROGRAM.format(
            body="return state[0:1] if __import__('multiprocessing').parent_process() else state"
        ),
        f"validate mine {GRAPH}",
        "the vertex program 'mine.update' returned float64, shape (1,); accepted: shape (3000,)",
    ),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_plug_in_that_fails_while_it_runs_is_named(plugin, case, program, monkeypatch, tmp_path):
    source, command, text = FAILING[case]
    monkeypatch.chdir(tmp_path)
    done = program(command, "--plugin", plugin(source), "--seed", 1, status=1)
    assert done.lines[-1].startswith(f"error: {text}")


def test_debug_shows_where_it_failed(plugin, program):
    file = plugin(PROGRAM.format(body="return states"))
    error = program("--debug", "run", "mine", GRAPH, "--plugin", file).err
    assert "Traceback (most recent call last)" in error
    assert f'File "{file}", line 13, in update' in error


def test_a_plug_in_that_cannot_be_described_hides_no_other(plugin, program):
    source = (
        "from predict_graph.algorithms import ALGORITHMS\n@ALGORITHMS.register('bare')\n"
        "class Bare: ...\n"
    )
    done = program("list", "algorithms", "--plugin", plugin(source), status=0)
    assert "cannot be described: AttributeError" in done.out
    assert "pagerank" in done.out


def test_what_no_other_process_can_load_is_told(plugin, program):
    made = "def make():" + indent(PROGRAM.format(body="return state"), "    ") + "\nmake()\n"
    done = program("validate", "mine", GRAPH, "--plugin", plugin(made), "--seed", 1, status=1)
    assert done.lines[-1].startswith("error: the run cannot be handed to a process of its own: ")
    assert "make.<locals>.Mine" in done.lines[-1]


# The registry, and other packages

GROUP = "predict_graph.test_shapes"


def shapes(**more):
    return Registry("shape", GROUP, {"map": "builtins:dict", "row": "builtins:list", **more})


@pytest.mark.parametrize("reference", ["no_such_module_here:thing", "builtins:no_such_name"])
def test_what_cannot_be_loaded_says_why_and_disturbs_no_other(reference):
    registry = shapes(broken=reference)
    assert "broken" in registry.names()
    refused(f"the shape 'broken' .*{reference}.* cannot be loaded", registry.get, "broken")
    assert registry.get("map") is dict


def test_plug_ins_of_other_packages(tmp_path, monkeypatch):
    names = ["star = plugged_two:Star", "inner = plugged_two:Star.Inner", "map = plugged_two:Star"]
    source = "class Star:\n    class Inner: ...\n"
    install(tmp_path, "plugged-two", "\n".join([f"[{GROUP}]", *names, ""]), plugged_two=source)
    bad = "raise RuntimeError('made badly')\n"
    install(tmp_path, "plugged-bad", f"[{GROUP}]\nbad = plugged_bad:Bad\n", plugged_bad=bad)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = shapes()
    assert registry.names() == ["map", "row", "bad", "inner", "star"]
    assert not {"plugged_two", "plugged_bad"} & set(sys.modules)  # listing imports nothing
    assert registry.get("map") is dict  # nobody replaces a built-in
    assert registry.get("star").__name__ == "Star"
    assert registry.get("inner").__name__ == "Inner"
    assert registry.origin("star") == "plugged_two:Star"
    refused(r"'bad' .* cannot be loaded: RuntimeError: made badly", registry.get, "bad")
    refused("the shape 'star' is already registered", registry.register("star"), int)
    assert registry.register("star", home="plugged_two.parts")(int) is int
    del sys.modules["plugged_two"]


def test_a_part_of_another_package_is_that_of_the_algorithm_that_it_names(tmp_path, monkeypatch):
    source = good("own").replace('")', '", algorithm="pagerank")')
    points = "[predict_graph.transforms]\nbad = no_such:bad\nown = plugged_own:transform\n"
    install(tmp_path, "plugged-own", points, plugged_own=source)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert TRANSFORMS.preferred("pagerank") == "own"
    del sys.modules["plugged_own"]
