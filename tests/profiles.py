"""What the profile of every run has."""

import json
from itertools import product

from predict_graph.engines import COUNTERS, PHASES, TABLE_COLUMNS


def counts_of(profile):
    """Return what every engine counts of each superstep: vertices, and messages of all workers."""
    rows = profile.per_iteration()
    rows["messages"] = rows["local_messages"] + rows["remote_messages"]
    return rows[["active_vertices", "total_vertices", "messages"]].to_numpy().tolist()


def check_whole(profile, vertices, processes):
    """Check that a profile has all that it should have, of so many processes."""
    assert tuple(profile.phases) == PHASES
    assert all(seconds >= 0.0 for seconds in profile.phases.values())
    table = profile.table
    assert tuple(table.columns[: len(TABLE_COLUMNS)]) == TABLE_COLUMNS
    expected = product(range(1, profile.iterations + 1), range(processes))
    assert sorted(zip(table["iteration"], table["worker"], strict=True)) == [*expected]
    assert (table[list(COUNTERS)] >= 0).all(axis=None)
    assert len(profile.values) == vertices
    json.dumps(profile.to_dict(), default=float)
