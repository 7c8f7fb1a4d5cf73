"""A cluster of which nothing is known: an answer at once, and samples that the budget affords."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import predict_graph
from predict_graph.algorithms import VertexProgram, check_algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.programs import program_of
from predict_graph.errors import JobError
from predict_graph.graph import check_graph
from predict_graph.prediction.following import expected_before
from predict_graph.prediction.request import check_function, check_request
from predict_graph.prediction.seconds.cluster.cluster_costs import fit_tasks, outgrown
from predict_graph.prediction.seconds.cluster.cluster_speed import reference_costs
from predict_graph.prediction.seconds.cluster.learning import worth_running
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_runs
from predict_graph.prediction.seconds.cluster.superstep_features import FEATURES

GRAPH = "rmat:scale=12,edge_factor=8,seed=3"
NOBODY = SparkEngine("spark://127.0.0.1:9", 4, memory="1g")


@pytest.mark.parametrize("name", ["pagerank", "connected-components", "topk-ranking"])
def test_an_answer_without_a_run_on_the_cluster(name):
    found = predict_graph.predict(name, GRAPH, engine=NOBODY, history="none", seed=1)
    assert found.evidence[0]["source"] == "runs on another cluster"
    assert any("no runs on this cluster yet" in said for said in found.warnings)
    assert "of sample runs on the cluster would narrow the interval" in found.more
    assert not [each for each in found.samples if each.purpose == "cost"]
    interval = found.runtime_seconds
    assert interval.high > 3.5 * interval.predicted  # all of it may be off together
    assert found.overhead_seconds < interval.predicted
    local = predict_graph.run(name, GRAPH, history="none")
    assert found.iterations.predicted == local.iterations


def test_a_budget_that_affords_sample_runs_needs_the_cluster():
    with pytest.raises(JobError, match="no Spark master"):
        predict_graph.predict("pagerank", GRAPH, engine=NOBODY, history="none", seed=1, budget="1h")


def test_the_clock_of_a_run_starts_from_what_runs_on_another_cluster_took():
    graph = check_graph(GRAPH)
    expected = expected_before(check_algorithm("pagerank"), NOBODY, graph, None)
    found = predict_graph.predict("pagerank", graph, engine=NOBODY, history="none", seed=1)
    assert expected.source == "runs on another cluster"
    # Supersteps are estimated, what each of them takes is not.
    each = expected.parts[0].seconds.mean()
    assert each == pytest.approx(found.phases["superstep"] / found.iterations.predicted, rel=0.5)
    assert expected.before == pytest.approx(found.phases["setup"] + found.phases["read"], rel=0.05)
    assert expected.total.high > 3.0 * expected.total.predicted


def test_the_clock_of_a_library_s_run_starts_from_what_its_twin_counts():
    graph = check_graph(GRAPH)
    algorithm = check_function("graphx:connectedComponents").on(graph)
    expected = expected_before(algorithm, NOBODY, graph, None)
    found = predict_graph.predict(algorithm, graph, engine=NOBODY, history="none", seed=1)
    assert expected.source == "runs on another cluster"
    assert expected.parts[0].iterations == found.iterations.predicted
    assert expected.parts[0].iterations_std == 0.0
    assert expected.total.predicted == pytest.approx(found.runtime_seconds.predicted, rel=0.01)


@pytest.mark.parametrize("name", ["pagerank", "neighborhood"])
def test_looking_up_takes_longer_in_larger_tables_and_adding_to_arrays_does_not(name):
    """Of the same superstep on twice as many vertices; in four partitions the tables are small."""
    program = program_of(check_algorithm(name))
    costs = reference_costs(name)
    rows = pd.DataFrame({each: [1e6, 1e6] for each in FEATURES}).assign(vertices=[1e6, 2e6])
    held = rows.assign(partitions=1.0 if program.looks_up else np.nan)
    near, far = costs.tasks.predict(held) / costs.tasks.predict(rows)
    spread, _ = costs.tasks.predict(held.assign(partitions=20.0)) / costs.tasks.predict(rows)
    assert spread == 1.0
    if program.looks_up:
        assert 1.3 < near < far < 3.0
    else:
        assert near == far == 1.0


@given(st.lists(st.integers(1_000, 10_000_000), min_size=4, max_size=12, unique=True))
def test_what_small_tables_cost_is_learned_from_large_ones_too(vertices):
    """Costs of looking up are taken off before they are fitted, and put back."""
    sizes = np.array(vertices, dtype=np.float64)
    rows = pd.DataFrame({each: sizes for each in FEATURES if each != "merged"})
    rows = rows.assign(partitions=2.0)
    rows["working"] = outgrown(rows) * (0.05 + 3e-7 * sizes)
    fitted = fit_tasks([rows.iloc[[number]] for number in range(len(rows))], "forward-nnls")
    assert fitted.predict(rows) == pytest.approx(rows["working"].to_numpy(), rel=1e-3)
    few = rows.iloc[:1].assign(vertices=sizes[0], partitions=1e6)
    assert fitted.predict(few) == pytest.approx(0.05 + 3e-7 * sizes[0], rel=1e-3)


class Hops(VertexProgram):
    name = "hops"
    summary = "shortest paths from the vertex with the most out-edges"
    combiner = "min"

    def initial(self, graph):
        distance = np.full(graph.vertices, np.inf)
        distance[graph.out_degrees.argmax()] = 0.0
        return distance

    def starters(self, state, graph):
        return state == 0.0

    def message(self, state, graph):
        return state + 1.0

    def update(self, state, combined, received):
        return np.minimum(state, combined)


def test_an_unknown_vertex_program_uses_the_reference_runs_of_vertex_programs():
    found = predict_graph.predict(Hops(), GRAPH, engine=NOBODY, history="none", seed=1)
    assert any("uses supersteps of a vertex program" in said for said in found.warnings)
    known = predict_graph.predict("pagerank", GRAPH, engine=NOBODY, history="none", seed=1)
    stds = [each.evidence[0]["relative_std"] for each in (found, known)]
    assert stds[0] > stds[1] + 0.05


@pytest.mark.parametrize(
    ("options", "sessions"),
    [({}, [4]), ({"budget": "none"}, [1, 2]), ({"train_machines": (2, 3)}, [2, 3])],
)
def test_a_function_of_ones_own_is_observed_in_one_session(tmp_path, options, sessions):
    file = tmp_path / "jobs.py"
    file.write_text("def job(spark, vertices, edges):\n    return vertices\n")
    request = check_request(f"{file}:job", engine=NOBODY, **options)
    graph = check_graph(GRAPH)
    context = request.context(None, graph.edges)
    assert list(worth_running(graph, NOBODY, [request.algorithm], context, [])) == sessions


@pytest.mark.parametrize("name", ["label-propagation", "connected-components"])
def test_records_are_as_many_as_the_training_runs_of_the_package_had(name):
    """Where messages to a vertex are combined there are fewer of them; labels are not."""
    runs = [run for run in shipped_runs(name, first=True) if run.machines == 2 and not run.cold]
    for run in runs:
        sums = run.exchanged()
        messages, records = sums["messages"].iloc[0], sums["shuffle_write_records"].iloc[0]
        assert bool(messages / records > 5.0) == (name == "connected-components")
    graph = check_graph("rmat:scale=13,edge_factor=16,seed=1", directed=False)
    found = predict_graph.predict(name, graph, engine=NOBODY, history="none", seed=1)
    totals = found.features_total()
    sent = totals["local_messages"] + totals["remote_messages"]
    moved = totals["local_message_bytes"] + totals["remote_message_bytes"]
    assert bool(moved / sent > 4.0) == (name == "label-propagation")
