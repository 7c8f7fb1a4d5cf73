"""What may be asked, checked in one place."""

import pytest

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.prediction.request import check_request
from tests.refusals import refused

HOPS = {"algorithm": "neighborhood", "transform": "same-threshold"}
UNREAD = [  # options, the last of which nothing reads, what does not read it, and who would
    ({"method": "completion", "sampler": "rj"}, "method completion", "published"),
    ({"method": "rooted", **HOPS}, "method rooted", "published"),
    ({"method": "published", "max_overhead": 0.1}, "method published", "completion"),
    ({"engine": "spark", "probe": False}, "engine spark", "engine local"),
]


WRONG = [
    ({"algorithm": "nothing"}, "unknown algorithm 'nothing'; .*accepted: "),
    ({"algorithm": "closeness_centrality"}, "unknown algorithm .*; did you mean networkx:clos"),
    ({"algorithm": 3}, "algorithm is 3"),
    ({"parameters": {"speed": 1}}, "unknown parameter of pagerank 'speed'"),
    ({"parameters": "speed=1"}, "parameters are 'speed=1'"),
    ({"engine": "steam"}, "unknown engine 'steam'"),
    ({"engine": LocalEngine}, "engine is <class"),
    ({"method": "baseline"}, "unknown method for pagerank 'baseline'"),
    ({"sampler": "jump"}, "unknown sampler 'jump'"),
    ({"probe": "no"}, "probe is 'no'; accepted: True or False"),
    ({"ratio": 1.5}, "ratio is 1.5"),
    ({"ratio": float("nan")}, "ratio is nan"),
    ({"train_ratios": [0.1, 2.0]}, "ratio is 2.0"),
    ({"train_ratios": [0.1, 0.1]}, r"train ratios are \[0.1, 0.1\]"),
    ({"transform": "twist"}, "unknown transform 'twist'"),
    ({"cost_model": "magic"}, "unknown cost model 'magic'"),
    ({"max_overhead": 0}, "max overhead is 0"),
    ({"max_overhead": True}, "max overhead is True"),
    ({"seed": -1}, "seed is -1"),
    ({"seed": 2**64}, f"seed is {2**64}"),
    *(
        (options, f"{[*options][-1]} is not read by the {part}; .*accepted: .*{reader}")
        for options, part, reader in UNREAD
    ),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_wrong_values_and_options_that_nothing_reads_are_named(options, said):
    assert "accepted: " in refused(f"^{said}", check_request, **{"algorithm": "pagerank"} | options)


def test_an_algorithm_and_an_engine_of_ones_own():
    job, engine = PageRank(damping=0.5), LocalEngine(workers=7)
    request = check_request(job, engine=engine)
    assert request.algorithm is job
    assert request.engine is engine
    refused("an algorithm that has its own", check_request, job, parameters={"damping": 0.9})
    refused("an engine that has its own", check_request, job, engine=engine, workers=3)


@pytest.mark.parametrize("option", [{"sampler": "rj"}, {"transform": "same-threshold"}])
def test_a_named_sampler_or_transform_is_the_published_method(option):
    for algorithm in ("pagerank", "neighborhood"):
        request = check_request(algorithm, **option)
        assert request.method.name == "published"
        assert request.named == set(option)


def test_a_chain_takes_the_transform_that_is_named_and_else_each_its_own():
    first, last = check_request("topk-ranking", engine=None).chain  # none is the usual one
    assert (first.algorithm.name, last.algorithm.name) == ("pagerank", "topk-ranking")
    assert (first.method.name, last.method.name) == ("completion", "rooted")
    assert first.transform.name == "scaled-threshold"
    assert last.transform.name == "same-threshold"
    both = check_request("topk-ranking", transform="same-threshold").chain
    assert {part.transform.name for part in both} == {"same-threshold"}
    assert {part.method.name for part in both} == {"published"}
