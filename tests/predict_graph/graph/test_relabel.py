"""From ids to vertices, dense or far apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.relabel import relabel

IDS = st.one_of(st.integers(0, 50), st.integers(0, 2**23), st.integers(0, 2**63 - 1))


@given(st.lists(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=30), min_size=1, max_size=4))
def test_relabel_is_the_rank(parts):
    tables = [np.array(part, dtype=np.int64) for part in parts]
    blocks = [EdgeBlock(table[:, 0].copy(), table[:, 1].copy()) for table in tables]
    relabelled, n, labels = relabel(blocks)
    distinct = np.unique(np.concatenate(tables))
    assert n == len(distinct)
    if labels is None:
        assert distinct.tolist() == list(range(n))
    else:
        assert labels.tolist() == distinct.tolist()
    for block, table in zip(relabelled, tables, strict=True):
        assert block.sources.tolist() == np.searchsorted(distinct, table[:, 0]).tolist()
        assert block.targets.tolist() == np.searchsorted(distinct, table[:, 1]).tolist()


@pytest.mark.parametrize("step", [1, 7, 10**9])
def test_many_ids(step):
    ids = np.random.default_rng(1).permutation(300_000) * step
    blocks = [EdgeBlock(part, part) for part in np.split(ids, 5)]
    relabelled, n, labels = relabel(blocks)
    assert n == len(ids)
    found = np.arange(n) if labels is None else labels
    assert (labels is None) == (step == 1)
    assert found.tolist() == sorted(ids.tolist())
    assert np.array_equal(np.concatenate([block.targets for block in relabelled]), ids // step)
