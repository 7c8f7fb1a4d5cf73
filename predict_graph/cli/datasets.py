"""Named graphs."""

from __future__ import annotations

from predict_graph.cli import options
from predict_graph.errors import RequestError
from predict_graph.reports.tables import show_table


def list_() -> None:
    """List the datasets, and which are here already."""
    from predict_graph.graph.datasets import CATALOGUE, dataset_path

    rows = []
    for data in CATALOGUE.values():
        kind = "directed" if data.directed else "undirected"
        copy = str(dataset_path(data.name) or "")
        rows.append((data.name, kind, data.vertices, data.edges, copy))
    columns = ["name", "kind", "vertices", "edges", "local copy"]
    show_table(options.results(None), "datasets", columns, rows)


def path(dataset: str) -> None:
    """Print where the local copy of a dataset is.

    Parameters
    ----------
    dataset : NAME
        Name of a dataset.
    """
    from predict_graph.graph.datasets import dataset_path

    found = dataset_path(dataset)
    if found is None:
        command = f"predict-graph datasets fetch {dataset}"
        raise RequestError(f"there is no local copy of {dataset}; get it with: {command}")
    options.say(str(found))


def fetch(dataset: str) -> None:
    """Download a dataset unless it is here, and print where it is.

    Parameters
    ----------
    dataset : NAME
        Name of a dataset.
    """
    options.say(str(options.fetched(dataset)))
