"""What may be asked, checked in one place."""

import math

import pytest

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.prediction.request import check_request

WRONG = {
    "algorithm": ({"algorithm": "nothing"}, "unknown algorithm 'nothing'"),
    "a function": (
        {"algorithm": "closeness_centrality"},
        "unknown algorithm 'closeness_centrality'; did you mean networkx:closeness",
    ),
    "algorithm type": ({"algorithm": 3}, "an algorithm cannot be a int"),
    "parameter": ({"parameters": {"speed": 1}}, "unknown parameter of pagerank 'speed'"),
    "engine": ({"engine": "steam"}, "unknown engine 'steam'"),
    "workers": ({"workers": 0}, "workers is 0"),
    "threads": ({"threads": -2}, "threads is -2"),
    "method": ({"method": "baseline"}, "unknown method for pagerank 'baseline'"),
    "sampler": ({"sampler": "jump"}, "unknown sampler 'jump'"),
    "ratio": ({"ratio": 1.5}, "ratio is 1.5"),
    "ratio nan": ({"ratio": math.nan}, "ratio is nan"),
    "train ratio": ({"train_ratios": [0.1, 2.0]}, "ratio is 2.0"),
    "one train ratio": ({"train_ratios": [0.1, 0.1]}, "train ratios are [0.1, 0.1]"),
    "transform": ({"transform": "twist"}, "unknown transform 'twist'"),
    "cost model": ({"cost_model": "magic"}, "unknown cost model 'magic'"),
    "overhead": ({"max_overhead": 0}, "max overhead is 0"),
    "seed": ({"seed": -1}, "seed is -1"),
    "large seed": ({"seed": 2**64}, f"seed is {2**64}"),
    # Options that nothing reads, and who would read them.
    "unread sampler": (
        {"method": "completion", "sampler": "rj"},
        "sampler is not read by the method completion",
        "published",
    ),
    "unread transform": (
        {"method": "rooted", "transform": "same-threshold", "algorithm": "neighborhood"},
        "transform is not read by the method rooted",
        "published",
    ),
    "unread overhead": (
        {"method": "published", "max_overhead": 0.1},
        "max_overhead is not read by the method published",
        "completion",
    ),
    "unread machines": (
        {"train_machines": [1]},
        "train_machines is not read by the engine local",
        "the engine spark",
    ),
    "unread probe": (
        {"probe": False, "engine": "spark"},
        "probe is not read by the engine spark",
        "the engine local",
    ),
}


@pytest.mark.parametrize("title", WRONG)
def test_wrong_values_and_options_that_nothing_reads_are_named(title):
    options, start, *readers = WRONG[title]
    with pytest.raises(RequestError) as caught:
        check_request(**({"algorithm": "pagerank"} | options))
    text = str(caught.value)
    assert text.startswith(start)
    assert all(reader in text.partition("accepted: ")[2] for reader in readers)
    assert "accepted: " in text
    assert "\n" not in text


def test_an_algorithm_and_an_engine_of_ones_own():
    job, engine = PageRank(damping=0.5), LocalEngine(workers=7)
    request = check_request(job, engine=engine)
    assert request.algorithm is job
    assert request.engine is engine
    with pytest.raises(RequestError, match="an algorithm that has its own"):
        check_request(job, parameters={"damping": 0.9})
    with pytest.raises(RequestError, match="an engine that has its own"):
        check_request(job, engine=engine, workers=3)


@pytest.mark.parametrize("option", [{"sampler": "rj"}, {"transform": "same-threshold"}])
def test_a_named_sampler_or_transform_is_the_published_method(option):
    for algorithm in ("pagerank", "neighborhood"):
        request = check_request(algorithm, **option)
        assert request.method.name == "published"
        assert request.named == set(option)


def test_a_chain_takes_the_transform_that_is_named_and_else_each_its_own():
    first, last = check_request("topk-ranking").chain
    assert (first.algorithm.name, last.algorithm.name) == ("pagerank", "topk-ranking")
    assert (first.method.name, last.method.name) == ("completion", "rooted")
    assert first.transform.name == "scaled-threshold"
    assert last.transform.name == "same-threshold"
    both = check_request("topk-ranking", transform="same-threshold").chain
    assert {part.transform.name for part in both} == {"same-threshold"}
    assert {part.method.name for part in both} == {"published"}
