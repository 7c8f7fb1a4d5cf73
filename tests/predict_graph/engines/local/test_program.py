import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import MAX_ITERATIONS, PageRank, Parameter, VertexProgram
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local import program as module
from predict_graph.engines.local.kernel import kernel_of
from predict_graph.graph import Graph, check_graph
from tests.graphs import listed
from tests.predict_graph.builtin.small import edges
from tests.refusals import failed, refused
from tests.vertex_programs import Distances, Labels, Ranks


class Once(VertexProgram):
    """What arrives in one superstep, of what half of the vertices or all send."""

    name = "once"
    summary = "messages of one superstep"

    def __init__(self, combiner, state, starters, weighted):
        super().__init__()
        self.combiner, self.state, self.starting = combiner, state, starters
        self.weighted = weighted

    def initial(self, graph):
        return np.zeros_like(self.state)

    def starters(self, state, graph):
        return self.starting

    def message(self, state, graph):
        return self.state

    def update(self, state, combined, received):
        self.combined, self.received = combined.copy(), received.copy()
        return state


GRAPHS = {
    "random": check_graph("erdos-renyi:n=300,p=0.014,seed=1"),
    "scale-free": check_graph("rmat:scale=12,edge_factor=8,seed=1"),
    "grid": check_graph("grid:rows=13,columns=17"),
    "edgeless": edges(n=5),
    "one vertex": edges((0, 0)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_pagerank_is_pagerank(name):
    ours = LocalEngine(threads=2).run(Ranks(), GRAPHS[name])
    theirs = LocalEngine().run(PageRank(), GRAPHS[name])
    assert ours.iterations == theirs.iterations
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12)
    np.testing.assert_allclose(ours.convergence, theirs.convergence, rtol=1e-9, atol=1e-16)
    columns = [column for column in ours.table.columns if column != "seconds"]
    np.testing.assert_allclose(ours.table[columns], theirs.table[columns], rtol=1e-9, atol=1e-16)


def word_by_word(code, graph, message, sends, weighted):
    """What each vertex receives, an edge at a time."""
    heard = [[] for _ in range(graph.vertices)]
    for (v, w), weight in listed(graph).items():
        if sends is None or sends[v]:
            value = message[v].item()
            if weighted:
                value = value * weight if code == "sum" else value + weight
            heard[w].append(value)
    return heard


@given(data=st.data(), n=st.integers(1, 25), combiner=st.sampled_from(["sum", "min", "max"]))
def test_one_superstep_word_by_word(data, n, combiner):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    heavy, weighted = data.draw(st.booleans()), data.draw(st.booleans())
    graph = edges(*pairs, n=n, weights=np.arange(1.0, len(pairs) + 1) / 4 if heavy else None)
    values = st.integers(-(2**60), 2**60) if not weighted else st.integers(-99, 99)
    state = np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
    if data.draw(st.booleans()):
        state = (state % 1000).astype(np.float64)
    sends = data.draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n).map(np.array))
    kernel = module.ProgramKernel(Once(combiner, state, sends, weighted), graph)
    kernel.step()
    heard = word_by_word(combiner, graph, state, sends, weighted)
    combine = {"sum": sum, "min": min, "max": max}[combiner]
    program = kernel._program
    np.testing.assert_array_equal(program.received, [bool(got) for got in heard])
    for v in range(n):
        if not heard[v]:
            limits = np.iinfo(np.int64)
            whole = program.combined.dtype.kind == "i"
            ends = (limits.max, limits.min) if whole else (np.inf, -np.inf)
            assert program.combined[v] == {"sum": 0, "min": ends[0], "max": ends[1]}[combiner]
        elif program.combined.dtype.kind == "i" and combiner == "sum":
            assert int(program.combined[v]) == (combine(heard[v]) + 2**63) % 2**64 - 2**63
        else:
            assert program.combined[v] == pytest.approx(combine(heard[v]), rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("combiner", ["sum", "min", "max"])
@pytest.mark.parametrize("weighted", [False, True])
def test_bits_do_not_depend_on_threads_whoever_sends(share, combiner, weighted):
    rng, graph = np.random.default_rng(2), GRAPHS["scale-free"]
    graph = Graph(graph.indptr, graph.indices, rng.random(graph.edges).astype(np.float32))
    state = rng.random(graph.vertices)
    sends = rng.random(graph.vertices) < share
    runs = []
    for threads in (1, 2, 5):
        with module.Team(threads) as team:
            kernel = module.ProgramKernel(Once(combiner, state, sends, weighted), graph, team)
            kernel.step()
        runs.append(kernel._program.combined.tobytes() + kernel._program.received.tobytes())
    assert len(kernel._blocks) > 3, "too small to have several blocks"
    assert runs[0] == runs[1] == runs[2]


def test_nothing_is_compiled_within_a_run():
    module.warm_up()
    known = len(module.pull.signatures), len(module.push.signatures)
    grid = GRAPHS["grid"]
    weights = np.linspace(0.1, 5.0, grid.edges, dtype=np.float32)
    for graph in (*GRAPHS.values(), Graph(grid.indptr, grid.indices, weights)):
        for program in (Ranks(), Distances(), Labels()):
            LocalEngine().run(program, graph)
    assert (len(module.pull.signatures), len(module.push.signatures)) == known


def test_a_vertex_program_may_have_a_kernel_of_its_own():
    assert kernel_of(Labels()) is module.ProgramKernel
    assert kernel_of(type("Own", (Labels,), {"runs_on": {"local": dict}})()) is dict


def test_a_program_starts_from_the_result_of_its_prior():
    class Highest(Labels):
        """The highest rank that reaches a vertex."""

        combiner = "max"

        @property
        def prior(self):
            return PageRank(epsilon=0.01)

        def initial(self, graph):
            return self.prior_values

        def update(self, state, combined, received):
            return np.maximum(state, combined)

    graph = GRAPHS["grid"]
    profile = LocalEngine().run(Highest(), graph)
    ranks = LocalEngine().run(PageRank(epsilon=0.01), graph).values
    np.testing.assert_array_equal(profile.values, np.full(graph.vertices, ranks.max()))
    assert LocalEngine().survey(Highest(), graph)[0] > 0


class Broken(Labels):
    name = "broken"

    def __init__(self, **methods):
        super().__init__()
        vars(self).update(methods)


def halves(state, combined, received):
    return state[: len(state) // 2]


def raising(*arguments):
    raise LookupError("no\nidea")


def in_place(state, combined, received):
    state += 1
    return state


WRONG = {
    "short": ("update", halves, r"returned int64, shape \(150,\); accepted: shape \(300,\)"),
    "scalar": ("update", lambda *a: 3, r"returned int64, shape \(\); accepted: shape"),
    "none": ("update", lambda *a: None, r"returned object, shape \(\)"),
    "text": ("initial", lambda graph: ["a"] * 300, "returned <U1, shape .* int64 or float64"),
    "floats": ("update", lambda s, c, r: s + 0.5, "returned float64, .* accepted: int64"),
    "nan": ("initial", lambda graph: np.full(300, np.nan), "returned NaN for vertex 0"),
    "nan sent": ("message", lambda s, g: np.where(s == 7, np.nan, 0), "returned NaN for vertex 7"),
    "nan aggregate": ("aggregate", lambda old, new: float("nan"), "returned NaN"),
    "aggregate of text": ("aggregate", lambda old, new: "few", r"failed.*ValueError"),
    "raising": ("update", raising, r"failed \(test_program.py, line \d+\): LookupError: no idea"),
    "in place": ("update", in_place, r"failed \(test_program.py, line \d+\): .*read-only"),
    "starters": ("starters", lambda s, g: np.arange(300), r"returned int64, .* accepted: bool"),
}


@pytest.mark.parametrize(("method", "function", "text"), WRONG.values(), ids=WRONG)
def test_a_program_that_is_wrong_is_named_with_its_method(method, function, text):
    said, program = f"^the vertex program 'broken.{method}' {text}", Broken(**{method: function})
    failed(said, LocalEngine().run, program, check_graph("grid:rows=15,columns=20"))


def test_what_nobody_sends_may_be_no_number():
    class Division(Ranks):
        def message(self, state, graph):
            return 0.0 * state / graph.out_degrees

    assert LocalEngine().run(Division(), GRAPHS["edgeless"]).converged


def test_a_wrong_attribute_is_told_when_the_class_is_made():
    def make(**attributes):
        type("Sub", (Labels,), attributes)()

    sub = "of the vertex program Sub is"
    refused("the vertex program Sub has no name", make, name=None)
    refused(f"combiner {sub} 'mean'; accepted: sum, min", make, combiner="mean")
    refused(f"resend {sub} True; accepted: changed, always", make, resend=True)
    refused("convergence .* accepted: absolute, ratio, fixed-point", make, convergence="soon")
    refused(f"message_bytes {sub} -1; accepted: a whole", make, message_bytes=-1)
    assert type("Sub", (Labels,), {"declared": ()})().max_iterations == 500


def test_thresholds():
    tau = Parameter("tau", float, 0.02, "share", 0.0, 1.0)
    ratio = type("Ratio", (Labels,), {"convergence": "ratio", "declared": (tau, MAX_ITERATIONS)})
    assert ratio(tau=0.1).threshold(10) == 0.1
    assert Labels().threshold(10) == 0.05
    without = type("Without", (Labels,), {"convergence": "absolute"})
    refused("neither a parameter tau nor a threshold", without().threshold, 10)
    assert Ranks.steady
    assert not Labels.steady
