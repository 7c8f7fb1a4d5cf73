"""Every part on the pipeline of a prediction counts, or is refused.

Seconds are pinned where they matter: the engines here report what a made-up law says, so that two
predictions which differ do so because of the part, and not because a clock was read twice.
"""

import inspect
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import predict_graph
from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.engines import ENGINES, PHASES, per_iteration
from predict_graph.engines.local import LocalEngine, observed
from predict_graph.engines.local.team import available_threads
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.iterations import METHODS, SAMPLERS, IterationEstimate, Method, methods_for
from predict_graph.iterations.rooted import estimator as rooted
from predict_graph.options import ESTIMATION, OPTIONS, RunOptions, declared
from predict_graph.prediction import COST_MODELS
from predict_graph.table import Table
from predict_graph.transforms import TRANSFORMS, Transform
from samplers import Sampler
from samplers.base import Visits
from tests.refusals import failed, refused
from tests.vertex_programs import Labels

GRAPH = check_graph("barabasi-albert:n=1200,m=3,seed=1")
WORKERS = 4


LOOSER = Transform("looser", lambda threshold, ratio: 100.0 * threshold / ratio, "ends runs early")


class PerRow:
    """A cost model that asks the same for every row."""

    terms_, r2_ = {"intercept": 100.0}, 0.5

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.full(len(X), 100.0)


def figures(prediction):
    """All that a prediction says of the run, and nothing that it says of itself."""
    own = [
        *vars(prediction.iterations).values(),
        *vars(prediction.runtime_seconds).values(),
        *prediction.phases.values(),
        *prediction.per_iteration.to_numpy(float).ravel(),
    ]
    return own if prediction.prior is None else own + figures(prediction.prior)


def differs(one, other):
    """Whether two predictions differ by more than rounding."""
    first, second = figures(one), figures(other)
    return len(first) != len(second) or not np.allclose(first, second, rtol=1e-6, atol=0.0)


def made_up(profile, law, *, virtual_workers=True):
    """Return a run, and the one before it, with the seconds that a law gives each iteration.

    ``law(messages, iteration)``: messages of all workers together, or of the busiest one.
    """
    table = profile.table
    sent = (table["local_messages"] + table["remote_messages"]).groupby(table["iteration"])
    messages = (sent.sum() if virtual_workers else sent.max()).to_numpy(float)
    seconds = law(messages, np.arange(1, len(messages) + 1))
    prior = profile.prior
    if prior is not None:
        prior = made_up(prior, law, virtual_workers=virtual_workers)
    before = dict.fromkeys(PHASES, 0.0) if prior is None else prior.phases
    own = {"setup": 0.01, "superstep": float(seconds.sum())}
    phases = {name: before[name] + own.get(name, 0.0) for name in PHASES}
    table = table.assign(seconds=seconds[table["iteration"] - 1])
    return replace(profile, phases=phases, rows=Table(table), prior=prior)


def bent(messages, iteration):
    """A law that no regression finds exactly, so that other rows always give other costs."""
    return 1e-3 + 1e-8 * messages**1.4


class Wrapped:
    """What the user would write around a system of theirs: the attributes of an engine, no more."""

    name = "wrapped"

    def __init__(self, workers=WORKERS, law=bent, virtual_workers=True):
        self.workers, self.virtual_workers, self.law = workers, virtual_workers, law

    def describe(self):
        return {"name": self.name, "workers": self.workers}

    def run(self, algorithm, graph, **options):
        return self.charged(LocalEngine(workers=self.workers).run(algorithm, graph, **options))

    def charged(self, profile):
        """Return a run with what this engine takes for it."""
        told = made_up(profile, self.law, virtual_workers=self.virtual_workers)
        return replace(told, engine=self.describe())


@pytest.fixture
def pinned(monkeypatch):
    """The local engine with made-up seconds, which fall with its threads; small rooted samples."""
    run = LocalEngine.run

    def made_up_run(self, algorithm, graph, **options):
        return made_up(run(self, algorithm, graph, **options), lambda *m: bent(*m) / self.threads)

    def surveyed(self, algorithm, graph, *, seconds=np.inf, probe=True):
        profile = run(self, algorithm, graph, max_iterations=3)
        rows = per_iteration(made_up(profile, lambda *m: 1.3 * bent(*m) / self.threads).rows)
        found = observed.IterationProbe(rows.floats("seconds"), rows)
        return 0.01 / self.threads, found if probe else None

    def timed_run(algorithm, staged, *, threads):
        falling = 0.8 ** np.arange(len(staged.run.work))
        return bent(staged.sample.graph.edges * falling, 1) / threads, 0.0

    monkeypatch.setattr(LocalEngine, "run", made_up_run)
    monkeypatch.setattr(LocalEngine, "survey", surveyed)
    monkeypatch.setattr(observed, "timed_run", timed_run)
    # The first sample has 2,000 vertices: small graphs are taken whole, whatever is asked for.
    monkeypatch.setattr(rooted.estimate_by_rooted_samples, "__defaults__", (0.25, 1 << 18, 1.5, 30))


@pytest.fixture
def wrapped(only_built_in):
    ENGINES.register("wrapped")(Wrapped)


def predict(algorithm="pagerank", graph=GRAPH, **options):
    """Predict without a limit: what fits a budget depends on how busy the machine is."""
    usual = {"seed": 1, "workers": WORKERS, "budget": "none"}
    return predict_graph.predict(algorithm, graph, **(usual | options))


# Option x method


OTHERWISE = {
    "sampler": ["rj"],
    "ratio": [0.4, 0.02],  # an upper bound for completed samples
    "train_ratios": [(0.1, 0.4)],
    "transform": [LOOSER],
    "cost_model": ["per-row"],
    "max_overhead": [0.05, 100.0],  # the first sample may be as small as it can be already
    "probe": [False],
    "budget": ["0.001s"],
    "within": [0.99],
    "workers": [WORKERS + 1],
    "threads": [2],
}
"""Values of each option beside the default; one of them has to change something."""
SETTINGS = ("workers", "threads")


def columns():
    """An algorithm of each kind on each kind of engine, by its default and by each method."""
    kinds = {}
    for name in ALGORITHMS.names():
        algorithm = ALGORITHMS.get(name)()
        kinds.setdefault((*methods_for(algorithm), algorithm.prior is None), name)
    return [
        (name, engine, method)
        for name in kinds.values()
        for engine in ("local", "wrapped")
        for method in (None, *methods_for(ALGORITHMS.get(name)()))
    ]


def predicted(column, **options):
    """Predict by an algorithm, an engine and a method."""
    name, engine, method = column
    threads = {"threads": 1} if engine == "local" else {}
    return predict(name, **({"engine": engine, "method": method} | threads | options))


def outcome(column, option, usual):
    """Return whether another value of an option has an effect; None if it is refused."""
    found = (predicted(column, **{option: value}) for value in OTHERWISE[option])
    try:
        return any(differs(each, usual) for each in found)
    except RequestError as error:
        setting = f"is no setting of the engine {column[1]}; leave it out"
        unread = r"is not read by the .*; accepted: .*the (method|engine) [\w-]+"
        said = str(error)
        assert re.search(f"^{option} {setting if option in SETTINGS else unread}", said)
        return None


@pytest.mark.slow
def test_every_option_has_an_effect_or_is_refused(pinned, wrapped):
    COST_MODELS.register("per-row")(PerRow)
    assert set(ESTIMATION) == {"method", *OTHERWISE} - set(SETTINGS)
    rows = {option: [] for option in OTHERWISE}
    for column in columns():
        _, engine, method = column
        found = predicted(column)
        if method is None:
            usual = found
        # By default the job is run on this machine; an option asks for samples.
        assert differs(found, usual) is (method is not None)
        for option, row in rows.items():
            if method is not None or engine != "local" or option in ("sampler", "transform"):
                row.append((column, outcome(column, option, found)))
    for option, row in rows.items():
        idle = [column for column, counts in row if counts is False]
        assert any(counts for _, counts in row), option
        # Small graphs are taken whole at the first step.
        assert not idle or option in ("within", "budget"), f"{option} changes nothing for {idle}"


# Parts of the user's own


class LowestIds(Sampler):
    """The vertices with the lowest ids."""

    name = "lowest-ids"

    def _visit(self, graph, target, max_edges, state):
        return Visits(np.arange(target), edges_scanned=0)


def nine(case):
    counters = LocalEngine().run(case.algorithm, case.graph, max_iterations=9).per_iteration()
    rows = counters.drop(columns="seconds").iloc[np.minimum(np.arange(9), len(counters) - 1)]
    curve = np.full(9, case.threshold)
    return IterationEstimate(
        "nine", 9.0, 9, 9, 9, curve, True, [], counters=rows.reset_index(drop=True)
    )


NINE = Method("nine", "always nine iterations", frozenset(), lambda algorithm: True, nine)

PARTS = {
    "sampler": (SAMPLERS, "lowest-ids", LowestIds),
    "transform": (TRANSFORMS, "looser", LOOSER),
    "method": (METHODS, "nine", NINE),
    "cost_model": (COST_MODELS, "per-row", PerRow),
}


# What is predicted without an option; pinned, so that it is the same beside every one.
usual_prediction = cache(predict)


NAMED = [
    {"cost_model": "nnls"},
    {"train_ratios": (0.1, 0.3)},
    {"probe": True},
    {"threads": available_threads() + 1},
]


@pytest.mark.parametrize("option", NAMED)
def test_what_is_named_counts_beside_a_budget_for_nothing(option):
    options = {"seed": 1, "budget": "0.001s"}
    usual = predict_graph.predict("pagerank", GRAPH, **options)
    named = predict_graph.predict("pagerank", GRAPH, **options, **option)
    assert usual.method["name"] == "baseline estimate"
    assert named.method["name"] != "baseline estimate"


def test_a_cost_model_that_is_off_by_any_factor_has_an_interval(wrapped):
    COST_MODELS.register("lost")(PerRow)
    found = predict(engine="wrapped", cost_model="lost")
    runtime = found.runtime_seconds
    assert 0.0 < runtime.low < 0.01 * runtime.predicted < 1e-4 * runtime.high < np.inf
    assert "lost" in str(found.to_dict())


@pytest.mark.slow
@pytest.mark.usefixtures("only_built_in")
def test_a_cost_model_that_is_named_prices_a_cluster_never_seen():
    pytest.importorskip("pyspark")
    from predict_graph.engines.spark import SparkEngine

    # A budget in which nothing is run there, and all that is free: nobody listens at the address.
    options = {"seed": 1, "budget": "10s", "engine": SparkEngine("spark://127.0.0.1:1", 2)}
    usual = predict_graph.predict("pagerank", GRAPH, **options)
    COST_MODELS.register("per-row")(PerRow)
    assert not differs(predict_graph.predict("pagerank", GRAPH, **options), usual)
    named = predict_graph.predict("pagerank", GRAPH, **options, cost_model="per-row")
    assert named.cost_model["name"] == "per-row"
    assert named.phases["superstep"] > 100.0 * usual.iterations.predicted


def test_a_history_of_the_graph_counts_beside_other_threads(history):
    ran = predict_graph.run("pagerank", GRAPH, history=history)
    found = predict_graph.predict("pagerank", GRAPH, history=history, threads=1, seed=1)
    assert found.iterations.low == found.iterations.high == ran.iterations


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "wrapped"])
@pytest.mark.parametrize("algorithm", ["pagerank", "topk-ranking"])
@pytest.mark.parametrize("option", PARTS)
@pytest.mark.usefixtures("pinned", "wrapped")
def test_a_part_that_is_named_or_registered_for_an_algorithm_counts(option, algorithm, engine):
    registry, name, part = PARTS[option]
    usual = usual_prediction(algorithm, engine=engine)
    registry.register(name)(part)
    assert not differs(predict(algorithm, engine=engine), usual), "it is there, but not asked for"
    named = predict(algorithm, engine=engine, **{option: name})
    assert differs(named, usual)
    registry.unregister(name)
    registry.register(name, algorithm=algorithm)(part)
    found = predict(algorithm, engine=engine)
    if check_algorithm(algorithm).prior is None:
        assert not differs(found, named)
    else:  # the one that runs before has parts of its own
        assert differs(found, usual)
    told = predict("semi-clustering", engine=engine).method
    assert told["name"] != "nine"
    assert name not in told.values()


@pytest.mark.usefixtures("only_built_in")
def test_a_part_that_would_not_be_read_is_refused_also_when_it_is_registered():
    SAMPLERS.register("lowest-ids", algorithm="pagerank")(LowestIds)
    refused("sampler is not read by the method completion", predict, method="completion")
    assert predict("neighborhood", method="rooted").method["name"] == "rooted"


def test_what_a_named_cost_model_says_is_all_that_counts(pinned, wrapped):
    COST_MODELS.register("per-row")(PerRow)
    for engine in ("local", "wrapped"):
        for algorithm in ("pagerank", "connected-components"):
            found = predict(algorithm, engine=engine, cost_model="per-row")
            assert found.phases["superstep"] == pytest.approx(100.0 * found.iterations.predicted)
            assert (found.cost_model["name"], found.cost_model["weight"]) == ("per-row", 1.0)
            assert sum(each.weight for each in found.evidence) == pytest.approx(1.0)


@pytest.mark.usefixtures("pinned", "only_built_in")
@pytest.mark.parametrize("method", ["rooted", "completion"])
def test_how_an_algorithm_says_that_it_is_sampled_counts(method):
    """Its own parts are taken, each by its method, and by no other."""
    asked = set()

    def recipe(algorithm, graph):
        asked.add("rooted")
        return rooted.recipe_of(Labels(), graph)

    def curve(algorithm, sample, threshold):
        asked.add("completion")
        return np.array([1.0, 0.5, threshold / 2])

    sampled_by = {method: {"rooted": recipe, "completion": curve}[method]}
    ALGORITHMS.register("labels")(type("S", (Labels,), {"sampled_by": sampled_by}))
    assert predict("labels", max_overhead=0.6).method["name"] == method
    assert asked == {method}


# Engines


def growing(messages, iteration):
    return (0.02 + 2e-6 * messages) * (1.0 + 0.1 * iteration)


# Here iterations are estimated right, so that what is left is an error of the seconds.
COUNTED_RIGHT = "powerlaw-cluster:n=20000,m=5,p=0.3,seed=1"
COUNTED_RIGHT_FOR = {"neighborhood": "barabasi-albert:n=20000,m=5,seed=1"}


@cache
def unread(text):
    """A graph that takes no time to read: the laws know of no reading."""
    return replace(check_graph(text), read_seconds=0.0)


@cache
def run_of(name, graph):
    """The run of an algorithm: the same for every law, but for its seconds."""
    return LocalEngine(workers=WORKERS).run(ALGORITHMS.get(name)(), graph)


@pytest.mark.slow
@pytest.mark.parametrize("virtual_workers", [True, False], ids=["one machine", "side by side"])
@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_an_engine_with_known_costs_is_predicted_within_them(name, virtual_workers, monkeypatch):
    def forbidden(*arguments, **options):
        raise AssertionError("the local engine was asked for seconds")

    monkeypatch.setattr(LocalEngine, "survey", forbidden)
    monkeypatch.setattr(observed, "timed_run", forbidden)
    engine = Wrapped(law=growing, virtual_workers=virtual_workers)
    graph = unread(COUNTED_RIGHT_FOR.get(name, COUNTED_RIGHT))
    found = predict(name, graph, engine=engine, workers=None)
    actual = engine.charged(run_of(name, graph))
    assert found.iterations.predicted == actual.iterations
    assert found.runtime_seconds.predicted == pytest.approx(actual.runtime_seconds, rel=0.15)
    assert found.phases["setup"] == pytest.approx(actual.phases["setup"], rel=0.01)
    (evidence,) = found.evidence
    assert (evidence.source, evidence.weight) == ("sample runs on the engine", 1.0)
    if found.prior is not None:
        assert found.prior.iterations.predicted == actual.prior.iterations


def test_an_engine_that_says_nothing_of_the_run_before_is_told(monkeypatch):
    class Silent(Wrapped):
        def run(self, algorithm, graph, **options):
            return replace(super().run(algorithm, graph, **options), prior=None)

    failed("accepted: a profile with prior", predict, "topk-ranking", engine=Silent(), workers=None)


# One declaration


DECLARED = [
    (predict_graph.predict, {*OPTIONS, "arguments"}),
    (predict_graph.validate, {*OPTIONS, "arguments", "fresh_process"} - {"spark_reads"}),
    (predict_graph.run, {*declared(RunOptions)}),
]


@pytest.mark.parametrize(("function", "names"), DECLARED)
def test_functions_show_the_declared_options(function, names):
    parameters = inspect.signature(function).parameters
    assert set(parameters) == names | {"algorithm", "graph"}
    for name in names & set(OPTIONS):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == OPTIONS[name].usual
        assert parameters[name].annotation is not inspect.Parameter.empty
        assert f"\n{name} : " in inspect.getdoc(function)


@pytest.mark.parametrize("function", [predict_graph.predict, predict_graph.run])
def test_an_unknown_option_is_refused_with_those_that_are_known(function):
    known = r"no option of .*; did you mean parameters\? accepted: parameters, "
    refused(known, function, "pagerank", GRAPH, parameter=1)
    refused(
        r"parameters are \[1\]; accepted: a mapping", function, "pagerank", GRAPH, parameters=[1]
    )
