"""PageRank with restarts at one source (personalised PageRank)."""

from __future__ import annotations

from predict_graph.algorithms.naming import NamedVertices, naming_parameter
from predict_graph.arrays import IntArray
from predict_graph.builtin.pagerank.definition import PageRank, dangling_parameter


class PersonalisedPageRank(NamedVertices, PageRank):
    """Rank vertices by random walks that restart at one vertex, the source.

    As PageRank, but the base rank, ``1 - damping`` and ``damping`` times the rank of dangling
    vertices, goes to the source alone. A run starts with all rank at the source and stops when the
    mean change of rank per vertex is below the threshold, ``tolerance`` or ``epsilon / N`` of N
    vertices. All vertices send in every superstep, including those without rank.

    Ranks sum to 1 and converge to those of networkx with ``personalization={source: 1}``;
    ``dangling="drop"`` discards the rank of dangling vertices.

    Parameters
    ----------
    source : id, optional
        By default the vertex with most out-edges, the first of them if there are several.
    damping : float
        In (0, 1); 0.85 by default.
    epsilon : float
        Tolerance level; 0.001 by default.
    tolerance : float, optional
        The threshold itself; not together with `epsilon`.
    dangling : {'source', 'drop'}
    max_iterations : int
        500 by default.

    References
    ----------
    .. [1] T. H. Haveliwala: Topic-Sensitive PageRank, WWW 2002.
    .. [2] G. Jeh, J. Widom: Scaling Personalized Web Search, WWW 2003.

    Examples
    --------
    >>> PersonalisedPageRank(source=17).ids
    ('17',)
    """

    name = "personalised-pagerank"
    summary = "rank of vertices by random walks with restarts at one source"
    named_by, several = "source", False
    mixes = False  # at first, rank spreads from the source
    declared = (
        naming_parameter("source", several=False),
        *(each for each in PageRank.declared if each.name != "dangling"),
        dangling_parameter("source", "to the source"),
    )

    def source_in(self, out_degrees: IntArray) -> int:
        """Return the source."""
        return int(self.vertices_in(out_degrees)[0])
