"""Slow programs, vertex by vertex, which the compiled kernels are compared with."""

import math
from collections import Counter

from tests.graphs import listed
from tests.predict_graph.builtin.small import BITS, splitmix64


class Program:
    """Vertices that send their state after it has changed, or always; all send at first.

    A message is the state of its sender. `merged` returns the next state of a vertex from its
    messages, pairs of a sender and its state.
    """

    always = False

    def __init__(self, graph, algorithm, prior=None):
        self.graph, self.algorithm, self.prior = graph, algorithm, prior
        self.around = [set(graph.neighbors(v).tolist()) for v in range(graph.vertices)]
        self.weights = listed(graph)
        self.state = [self.first(v) for v in range(graph.vertices)]
        self.senders, self.updated = set(self.starters()), set()

    def first(self, v):
        return v

    def starters(self):
        return range(self.graph.vertices)

    def size(self, message):
        return 16

    def message(self, v):
        return self.state[v] if self.always or v in self.senders else None

    def receive(self, v, messages):
        following = self.merged(v, messages)
        if following != self.state[v]:
            self.state[v] = following
            self.updated.add(v)

    def aggregate(self):
        self.senders, self.updated = self.updated, set()
        return len(self.senders) / len(self.state)

    def values(self):
        return self.state


class Components(Program):
    def merged(self, v, messages):
        return min([self.state[v], *(label for _, label in messages)])

    def result(self):
        sizes = Counter(self.state)
        return {"components": len(sizes), "largest": max(sizes.values())}


class Cores(Program):
    """Algorithm 1 of Montresor et al.: each vertex keeps what it has heard of each neighbour."""

    def first(self, v):
        return len(self.around[v])

    def merged(self, v, messages):
        heard = self.__dict__.setdefault("heard", {})
        known = heard.setdefault(v, dict.fromkeys(self.around[v] - {v}, 1e9))
        known.update({u: estimate for u, estimate in messages if u != v})
        estimates = sorted(known.values(), reverse=True)
        enough = [k for k, found in enumerate(estimates, start=1) if found >= k]
        return min(self.state[v], max(enough, default=0))

    def result(self):
        return {"degeneracy": max(self.state), "innermost": self.state.count(max(self.state))}


class Labels(Program):
    always = True

    def size(self, message):
        return 16 if self.graph.weights is None else 24

    def merged(self, v, messages):
        votes = Counter()
        for u, label in messages:
            votes[label] += self.weights[v, u]
        most = max(votes.values(), default=0)
        best = [label for label, count in votes.items() if count == most]
        return min(best, default=self.state[v])

    def result(self):
        sizes = Counter(self.state).values()
        return {"communities": len(sizes), "largest": max(sizes)}


class Paths(Program):
    def first(self, v):
        landmarks = self.algorithm.vertices_in(self.graph.out_degrees).tolist()
        return {number: 0 for number, landmark in enumerate(landmarks) if landmark == v}

    def starters(self):
        return (v for v, known in enumerate(self.state) if known)

    def size(self, message):
        return 8 + 16 * len(message)

    def merged(self, v, messages):
        known = dict(self.state[v])
        for _, heard in messages:
            for landmark, hops in heard.items():
                known[landmark] = min(hops + 1, known.get(landmark, hops + 1))
        return known

    def values(self):
        rows = [[known.get(k, -1) for k in range(self.algorithm.count)] for known in self.state]
        return [row[0] for row in rows] if self.algorithm.count == 1 else rows

    def result(self):
        farthest = max(hops for known in self.state for hops in known.values())
        return {"reached": sum(map(bool, self.state)), "farthest": farthest}


class Lists(Program):
    """PREDIcT, section 4.3: lists of (-rank, vertex), best first."""

    def first(self, v):
        return [(-float(self.prior[v]), v)]

    size = Paths.size

    def merged(self, v, messages):
        known = set(self.state[v]).union(*(heard for _, heard in messages))
        return sorted(known)[: self.algorithm.k]

    def values(self):
        return [[v for _, v in best] + [-1] * (self.algorithm.k - len(best)) for best in self.state]

    def result(self):
        return {"different_lists": len(set(map(tuple, self.values())))}


class Counters(Program):
    """HADI with HyperLogLog counters, estimated as in its paper (figure 3)."""

    def first(self, v):
        registers = self.algorithm.registers
        bits = registers.bit_length() - 1
        register, rest = splitmix64(v) % registers, splitmix64(v) >> bits
        zeros = (rest & -rest).bit_length() - 1 if rest else 64 - bits
        return tuple(zeros + 1 if r == register else 0 for r in range(registers))

    def size(self, message):
        return 8 + len(message)

    def merged(self, v, messages):
        return tuple(map(max, zip(self.state[v], *(heard for _, heard in messages), strict=True)))

    def values(self):
        m = self.algorithm.registers
        alpha = {16: 0.673, 32: 0.697, 64: 0.709}.get(m, 0.7213 / (1 + 1.079 / m))
        found = []
        for registers in self.state:
            raw = alpha * m * m / sum(2.0**-value for value in registers)
            empty = registers.count(0)
            found.append(m * math.log(m / empty) if raw <= 2.5 * m and empty else raw)
        return found


class Ranks(Program):
    """Equation 1 of PREDIcT, from all vertices or from one source."""

    always = True

    def __init__(self, graph, algorithm, prior=None):
        n = graph.vertices
        self.base = [1 / n] * n
        if hasattr(algorithm, "vertices_in"):
            self.base = [float(v == algorithm.vertices_in(graph.out_degrees)[0]) for v in range(n)]
        super().__init__(graph, algorithm, prior)
        self.following = list(self.state)

    def first(self, v):
        return self.base[v]

    def receive(self, v, messages):
        self.following[v] = math.fsum([rank / len(self.around[u]) for u, rank in messages])

    def aggregate(self):
        damping, spread = self.algorithm.damping, self.algorithm.spread_dangling
        leaked = sum(rank for v, rank in enumerate(self.state) if not self.graph.out_degrees[v])
        share = 1.0 - damping + (damping * leaked if spread else 0.0)
        before, sums = self.state, zip(self.following, self.base, strict=True)
        self.state = [damping * sum_ + share * base for sum_, base in sums]
        return sum(abs(a - b) for a, b in zip(before, self.state, strict=True)) / len(before)

    def result(self):
        return {}


class Triangles(Program):
    """Degrees, then sets of the neighbours above."""

    def __init__(self, graph, algorithm, prior=None):
        super().__init__(graph, algorithm)
        self.state, self.above = [0] * graph.vertices, None
        self.found = [set() for _ in self.around]

    def message(self, v):
        return len(self.around[v]) if self.above is None else self.above[v]

    def size(self, message):
        return 16 if isinstance(message, int) else 8 + 8 * len(message)

    def receive(self, v, messages):
        for u, message in messages:
            if u == v:
                continue
            if isinstance(message, int):
                if (message, u) > (len(self.around[v]), v):
                    self.found[v].add(u)
            else:
                self.state[v] += len(message & (self.around[v] - {v}))

    def aggregate(self):
        first, self.above = self.above is None, self.found
        return float(first)

    def result(self):
        return {"triangles": sum(self.state) // 3, "most": max(self.state)}


class SemiClusters(Program):
    """PREDIcT, section 4.2: semi-clusters are sets, scored from nothing."""

    def __init__(self, graph, algorithm, prior=None):
        super().__init__(graph, algorithm)
        self.sent = [[frozenset({v})] for v in range(graph.vertices)]
        self.lists, self.following, self.changes = list(self.sent), list(self.sent), 0

    def score(self, cluster):
        """Equation 2; 0 for a single vertex."""
        if len(cluster) == 1:
            return 0.0
        ends = [(v, w, self.weights[v, w]) for v in cluster for w in self.around[v] - {v}]
        inner = sum(weight for v, w, weight in ends if w in cluster and v < w)
        boundary = sum(weight for v, w, weight in ends if w not in cluster)
        pairs = len(cluster) * (len(cluster) - 1) / 2
        return (inner - self.algorithm.parameters["boundary_factor"] * boundary) / pairs

    def best(self, clusters, places):
        def order(cluster):
            return -self.score(cluster), sum(map(splitmix64, cluster)) & BITS

        return sorted(clusters, key=order)[: self.algorithm.parameters[places]]

    def message(self, v):
        return self.sent[v]

    def size(self, message):
        return 8 + sum(24 + 8 * len(cluster) for cluster in message)

    def receive(self, v, messages):
        most = self.algorithm.parameters["v_max"]
        heard = {cluster for u, message in messages if u != v for cluster in message}
        formed = {each | {v} for each in heard if v not in each and len(each) < most}
        if heard:
            self.following[v] = self.best(heard | formed, "s_max")
        own = {cluster for cluster in heard | formed if v in cluster}
        places = self.best(own | set(self.lists[v]), "c_max")
        self.changes += len(set(places) - set(self.lists[v]))
        self.lists[v] = places

    def aggregate(self):
        share = self.changes / sum(map(len, self.lists))
        self.sent, self.following, self.changes = self.following, list(self.following), 0
        return share

    def values(self):
        return [set(places[0]) for places in self.lists]

    def result(self):
        scores = [self.score(cluster) for places in self.lists for cluster in places]
        return {"best_score": max(scores), "mean_score": math.fsum(scores) / len(scores)}


PROGRAMS = {
    "pagerank": Ranks,
    "personalised-pagerank": Ranks,
    "topk-ranking": Lists,
    "connected-components": Components,
    "label-propagation": Labels,
    "neighborhood": Counters,
    "shortest-paths": Paths,
    "k-core": Cores,
    "triangle-count": Triangles,
    "semi-clustering": SemiClusters,
}
