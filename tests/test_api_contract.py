"""What holds for every plug-in and for every public name."""

import inspect
import json

import pytest

import costmodels
import predict_graph
import samplers
from predict_graph.algorithms import ALGORITHMS, Algorithm, check_algorithm
from predict_graph.engines import ENGINES, Engine
from predict_graph.graph import check_graph
from predict_graph.graph.generators import GENERATORS
from predict_graph.iterations import METHODS, SAMPLERS, Method
from predict_graph.prediction import COST_MODELS
from predict_graph.transforms import TRANSFORMS, Transform, default_transform
from tests.profiles import check_whole
from tests.python import python
from tests.refusals import refused

REGISTRIES = {
    "samplers": SAMPLERS,
    "transforms": TRANSFORMS,
    "algorithms": ALGORITHMS,
    "engines": ENGINES,
    "cost-models": COST_MODELS,
    "methods": METHODS,
    "generators": GENERATORS,
}


# Every registry


@pytest.mark.parametrize("registry", REGISTRIES.values())
def test_an_unknown_name_gives_one_sentence_with_the_legal_names(registry):
    text = refused(None, registry.get, "no-such-thing")
    assert text.startswith(f"unknown {registry.kind} 'no-such-thing'; accepted: ")
    assert all(name in text for name in registry.names())


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_program_lists_every_plug_in_with_one_line_of_what_it_is(kind, program):
    lines = [line.strip("│ ") for line in program("list", kind).out.splitlines()]
    for name in REGISTRIES[kind].names():
        plugin = REGISTRIES[kind].get(name)
        text = plugin.summary if isinstance(plugin, Transform | Method) else inspect.getdoc(plugin)
        assert 10 < len(text.splitlines()[0]) <= 100
        assert kind in ("cost-models", "generators") or plugin.name == name
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        _, origin, *what = line.replace("│", " ").split()
        assert origin == "built-in"
        assert len(what) > 2
        assert "cannot be loaded" not in line


# Algorithms


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_an_algorithm_declares_itself(name):
    algorithm = ALGORITHMS.get(name)()
    assert isinstance(algorithm, Algorithm)
    assert set(algorithm.runs_on) <= set(ENGINES.names())
    assert all(algorithm.part_of(method) is not None for method in algorithm.sampled_by)
    assert set(algorithm.sampled_by) <= set(METHODS.names())
    assert default_transform(algorithm.convergence).name in TRANSFORMS.names()
    assert set(algorithm.parameters) == {parameter.name for parameter in algorithm.declared}
    assert all(parameter.summary for parameter in algorithm.declared)
    assert algorithm.max_iterations >= 1
    assert algorithm.threshold(1000) > 0
    texts = {key: str(value) for key, value in algorithm.to_dict().items()}
    assert check_algorithm(name, texts).to_dict() == algorithm.to_dict()
    again = eval(repr(algorithm), {type(algorithm).__name__: type(algorithm)})
    assert again.to_dict() == algorithm.to_dict()
    json.dumps(algorithm.to_dict())


# Engines


@pytest.fixture(scope="module")
def engine(request):
    """Each engine, ready for many runs."""
    if request.param == "spark":
        return request.getfixturevalue("local_spark")
    return ENGINES.get(request.param)(workers=3)


# What a profile has does not depend on the size, and fewer supersteps take less on Spark.
GRAPH = check_graph("barabasi-albert:n=60,m=3,seed=1")


# Every other one leaves a whole profile on Spark, too, and ends as it does here:
# tests/predict_graph/builtin, and tests/predict_graph/engines/spark/test_blocks.py.
ON_ENGINES = [("spark", "pagerank"), *(("local", name) for name in ALGORITHMS.names())]


@pytest.mark.parametrize(("engine", "algorithm"), ON_ENGINES, indirect=["engine"], scope="module")
def test_an_engine_obeys_threshold_and_limit_and_leaves_a_whole_profile(engine, algorithm):
    assert isinstance(engine, Engine)
    assert engine.name in ENGINES.names()
    assert engine.describe()["name"] == engine.name
    assert engine.describe()["workers"] == engine.workers
    job, seen = ALGORITHMS.get(algorithm)(), []
    first = engine.run(job, GRAPH, threshold=1e9)
    assert (first.iterations, first.converged) == (1, True)
    cut = engine.run(
        job, GRAPH, threshold=0.0, max_iterations=3, progress=lambda number, _: seen.append(number)
    )
    assert (cut.iterations, cut.converged) == (3, False)
    assert seen == [1, 2, 3]
    processes = 1 if engine.name == "spark" else engine.workers  # one process here
    for profile in (first, cut):
        check_whole(profile, GRAPH.vertices, processes)


# Public names


@pytest.mark.parametrize("package", [predict_graph, samplers, costmodels])
def test_packages_tell_what_they_have(package):
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        package.no_such_name  # noqa: B018


# Importing

HEAVY = ("numpy", "rich.console", "pyarrow", "networkx")  # most others import numpy


def test_importing_and_listing_names_and_help_bring_nothing_heavy():
    code = (
        "import builtins, sys, predict_graph, samplers, costmodels, predict_graph.cli.app\n"
        "builtins.profile = len\n"  # as line profilers do
        "from predict_graph.cli.commands import NAMES, command_of\n"
        "print([m for m in sys.modules if m.startswith('predict_graph.cli.pre')])\n"
        "[*map(command_of, NAMES)]\n"
        "from costmodels.scaling import SCALING_MODELS\n"
        "print(min(map(len, (samplers.SAMPLERS, costmodels.COST_MODELS, SCALING_MODELS))) > 1)\n"
        f"print([n for n in {HEAVY} if n in sys.modules])"
    )
    assert python("-c", code).stdout.split() == ["[]", "True", "[]"]
