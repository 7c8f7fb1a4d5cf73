"""Vertex programs that tests of several engines run."""

import numpy as np

from predict_graph.algorithms import MAX_ITERATIONS, Parameter, VertexProgram


class Ranks(VertexProgram):
    name = "ranks"
    summary = "PageRank once more"
    convergence = "absolute"
    resend = "always"
    declared = (Parameter("epsilon", float, 0.001, "threshold x vertices", 0.0), MAX_ITERATIONS)

    def threshold(self, vertices):
        return self.parameters["epsilon"] / vertices

    def initial(self, graph):
        self.dangling = graph.out_degrees == 0
        return np.full(graph.vertices, 1.0 / graph.vertices)

    def message(self, state, graph):
        return 0.85 * state / graph.out_degrees

    def update(self, state, combined, received):
        return combined + (0.15 + 0.85 * state[self.dangling].sum()) / len(state)

    def aggregate(self, old, new):
        return np.abs(new - old).mean()


class Distances(VertexProgram):
    name = "distances"
    summary = "from the vertex with the most out-edges"
    combiner = "min"
    weighted = True

    def initial(self, graph):
        return np.where(np.arange(graph.vertices) == graph.out_degrees.argmax(), 0.0, np.inf)

    def starters(self, state, graph):
        return state == 0.0

    def update(self, state, combined, received):
        return np.minimum(state, combined)


class Labels(VertexProgram):
    name = "labels"
    summary = "smallest id of the component"
    combiner = "min"

    def initial(self, graph):
        return np.arange(graph.vertices)

    def update(self, state, combined, received):
        return np.minimum(state, combined)
