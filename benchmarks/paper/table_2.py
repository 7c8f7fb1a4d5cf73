"""Table 2: the graphs."""

from __future__ import annotations

from benchmarks.common import table
from benchmarks.paper.graphs import DIRECTED, MESH, RMAT, read, source
from benchmarks.paper.page import Settings

NAME, TITLE = "table-2", "Table 2: graphs"


def write(settings: Settings) -> list[str]:
    rows = []
    for name in settings.graphs:
        directed = name in DIRECTED or name in RMAT
        graph, both = read(name, directed), read(name, False)
        rows.append(
            [
                name,
                "mesh" if name == MESH else "directed" if directed else "undirected",
                f"{graph.vertices:,}",
                f"{graph.edges:,}",
                f"{both.edges:,}",
                f"{graph.edges / graph.vertices:.1f}",
                f"{int(graph.out_degrees.max()):,}",
            ]
        )
    head = ["graph", "kind", "vertices", "edges", "edges both ways", "edges a vertex"]
    head += ["largest out-degree"]
    generated = ", ".join(f"{name} is `{source(name)}`" for name in settings.graphs if name in RMAT)
    return [
        "The paper has LiveJournal, Wikipedia, Twitter and UK-2002: 5 to 40 million vertices and "
        "69 to 1468 million edges on ten machines. Ours are smaller and more varied. An undirected "
        "graph stores both directions; algorithms on undirected graphs get edges both ways. "
        "wing is a mesh, which the method is not for: it is left out of medians."
        + (f" {generated}." if generated else ""),
        "",
        *table(head, rows, text_columns=2),
    ]
