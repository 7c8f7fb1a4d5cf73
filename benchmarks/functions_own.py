"""Functions of the user's own, for the study of graph functions."""

from __future__ import annotations

import networkx as nx
import numpy as np


def spectral(graph: nx.Graph) -> np.ndarray:
    """Communities by the eigenvectors of the Laplacian: its steps depend on the eigengap."""
    from scipy.sparse.linalg import eigsh
    from sklearn.cluster import KMeans

    adjacency = nx.to_scipy_sparse_array(graph, format="csr", dtype=float)
    degrees = np.maximum(adjacency.sum(axis=1), 1.0)
    scaled = adjacency.multiply(1.0 / np.sqrt(degrees)[:, None]).multiply(
        1.0 / np.sqrt(degrees)[None, :]
    )
    _, vectors = eigsh(scaled.tocsr(), k=min(8, len(graph) - 2), v0=np.ones(len(graph)))
    return KMeans(8, n_init=2, random_state=0).fit_predict(vectors)


def reach_two(graph: nx.Graph) -> dict:
    """How many vertices are at most two steps away."""
    found = {}
    for vertex in sorted(graph):
        near = set(graph[vertex])
        for other in graph[vertex]:
            near.update(graph[other])
        found[vertex] = len(near)
    return found


def rounds(graph: nx.Graph) -> dict:
    """Average with the neighbours until nothing changes much: a ``for`` inside a ``while``."""
    values = {vertex: float(place % 97) for place, vertex in enumerate(graph)}
    while True:
        change = 0.0
        for vertex in graph:
            around = graph[vertex]
            if around:
                mean = (values[vertex] + sum(values[w] for w in around)) / (len(around) + 1)
                change = max(change, abs(mean - values[vertex]))
                values[vertex] = mean
        if change < 0.05:
            return values


def exemplars(graph: nx.Graph) -> np.ndarray:
    """Communities around exemplars, by the hops between vertices: rounds until nothing changes."""
    from scipy.sparse.csgraph import shortest_path
    from sklearn.cluster import AffinityPropagation

    adjacency = nx.to_scipy_sparse_array(graph, format="csr", dtype=float)
    hops = shortest_path(adjacency, unweighted=True, directed=False)
    hops[np.isinf(hops)] = len(graph)
    model = AffinityPropagation(
        affinity="precomputed", damping=0.9, max_iter=1000, convergence_iter=50, random_state=0
    )
    return model.fit_predict(-(hops**2))
