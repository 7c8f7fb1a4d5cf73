"""Joining stubs: each at most once, like with like, degrees as they are."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.graph import check_graph
from predict_graph.iterations.completion.matching import match_mutual, match_one_way
from predict_graph.iterations.completion.profiles import LEVELS, profile_key, vertex_profiles


def packed(in_class, out_class, inflow):
    return (in_class << 14) | (out_class << 7) | inflow


PROFILES = st.builds(packed, st.integers(0, 6), st.integers(0, 6), st.integers(50, 64))


def stubs(size):
    return st.lists(st.tuples(PROFILES, PROFILES), max_size=size).map(
        lambda pairs: np.array(pairs, dtype=np.int32).reshape(-1, 2)
    )


SEEDS = st.integers(0, 2**32)


def each_once(*parts):
    together = np.concatenate(parts)
    return len(np.unique(together)) == len(together)


@given(found=stubs(60), seed=SEEDS)
def test_each_mutual_stub_is_joined_once_with_one_alike_at_some_level(found, seed):
    first, second = match_mutual(found[:, 0], found[:, 1], np.random.default_rng(seed))
    assert each_once(first, second)
    owner, wanted = found[:, 0], found[:, 1]
    alike = np.zeros(len(first), bool)
    for level in range(LEVELS):
        alike |= (profile_key(owner[first], level) == profile_key(wanted[second], level)) & (
            profile_key(wanted[first], level) == profile_key(owner[second], level)
        )
    assert alike.all()


@given(out=stubs(40), inn=stubs(40), seed=SEEDS)
def test_each_one_way_stub_is_joined_once(out, inn, seed):
    sources, targets = match_one_way(
        out[:, 0], out[:, 1], inn[:, 0], inn[:, 1], np.random.default_rng(seed)
    )
    assert each_once(sources)
    assert each_once(targets)
    # The last level keeps small out-degrees alone: what is left of one kind has no partner.
    left = [np.delete(np.arange(len(each)), at) for each, at in ((out, sources), (inn, targets))]
    kinds = [
        set(zip(*(profile_key(each[at], LEVELS - 1).tolist() for each in pair), strict=True))
        for pair, at in (((out[:, 0], out[:, 1]), left[0]), ((inn[:, 1], inn[:, 0]), left[1]))
    ]
    assert not kinds[0] & kinds[1]


@given(pairs=stubs(30), seed=SEEDS)
def test_stubs_that_have_a_perfect_partner_all_find_one(pairs, seed):
    # Every out-stub (owner, wanted) has an in-stub whose owner is the wanted one.
    sources, targets = match_one_way(
        pairs[:, 0], pairs[:, 1], pairs[:, 1], pairs[:, 0], np.random.default_rng(seed)
    )
    assert len(sources) == len(pairs)
    np.testing.assert_array_equal(pairs[sources], pairs[targets])
    both = np.concatenate((pairs, pairs[:, ::-1]))
    first, second = match_mutual(both[:, 0], both[:, 1], np.random.default_rng(seed))
    assert len(first) == len(pairs)
    np.testing.assert_array_equal(both[first], both[second][:, ::-1])


def test_the_finest_level_goes_first():
    a, b, c = packed(4, 4, 60), packed(6, 6, 60), packed(6, 6, 61)
    out = np.array([[a, b], [a, c]], np.int32)
    inn = np.array([[c, a], [b, a]], np.int32)
    for seed in range(5):
        pairs = match_one_way(
            out[:, 0], out[:, 1], inn[:, 0], inn[:, 1], np.random.default_rng(seed)
        )
        assert dict(zip(*(each.tolist() for each in pairs), strict=True)) == {0: 1, 1: 0}


@given(profile=PROFILES, other=PROFILES)
def test_what_is_alike_stays_alike_on_the_ladder_of_each_kind(profile, other):
    # Levels 0, 1, 3 look at exact classes, 2 and 4 at coarse ones; 5 is the last resort.
    both = np.array([profile, other], np.int32)
    alike = [len(np.unique(profile_key(both, level))) == 1 for level in range(LEVELS)]
    for fine, coarse in [(0, 1), (1, 3), (2, 4), (3, 4), (4, 5)]:
        assert not alike[fine] or alike[coarse]


def test_profiles_of_a_small_graph():
    # 0 and 1 point at 2, 2 points at 3; 4 is alone.
    graph = nx.DiGraph([(0, 2), (1, 2), (2, 3)])
    graph.add_node(4)
    profiles = vertex_profiles(check_graph(graph))
    classes = [(int(packed) >> 14, int(packed) >> 7 & 127) for packed in profiles]
    assert classes == [(0, 2), (0, 2), (3, 2), (2, 0), (0, 0)]
    # Each in-neighbour of 2 and of 3 has one outbound edge: an inflow of 1 for each.
    assert int(profiles[2]) & 127 == int(profiles[3]) & 127 == 64
