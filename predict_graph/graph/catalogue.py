"""The named datasets: where they come from, and what their publishers say about their size."""

from __future__ import annotations

from dataclasses import dataclass

_SNAP = "https://snap.stanford.edu/data/"
# Answers no https, so only what has a SHA-256 below is taken from there.
_LAW = "http://data.law.di.unimi.it/webdata/"


@dataclass(frozen=True)
class Dataset:
    """A graph that has a name.

    Parameters
    ----------
    name : str
    addresses : tuple of str
        What to download; the first one is the graph, others have to lie beside it.
    files : tuple of str
        File names under which a local copy is recognized, the best first.
    directed : bool
    vertices, edges : int
        As published; an undirected edge counts once.
    member : str, optional
        File inside the archive that is downloaded.
    sha256 : tuple of (str or None)
        Of what each address gives; None, or nothing, where that is not known for certain: then the
        first download is trusted, and later ones are compared with it.
    """

    name: str
    addresses: tuple[str, ...]
    files: tuple[str, ...]
    directed: bool
    vertices: int
    edges: int
    member: str | None = None
    sha256: tuple[str | None, ...] = ()


# Vertices, edges, and whether they are directed.
_OF_SNAP = {
    "amazon0601": (403_394, 3_387_388, True),
    "ca-AstroPh": (18_772, 198_110, False),
    "cit-HepPh": (34_546, 421_578, True),
    "cit-Patents": (3_774_768, 16_518_948, True),
    "com-amazon": (334_863, 925_872, False),
    "com-dblp": (317_080, 1_049_866, False),
    "com-youtube": (1_134_890, 2_987_624, False),
    "email-Enron": (36_692, 183_831, False),
    "email-EuAll": (265_214, 420_045, True),
    "p2p-Gnutella31": (62_586, 147_892, True),
    "soc-Epinions1": (75_879, 508_837, True),
    "soc-LiveJournal1": (4_847_571, 68_993_773, True),
    "soc-Slashdot0811": (77_360, 905_468, True),
    "soc-Slashdot0902": (82_168, 948_464, True),
    "web-BerkStan": (685_230, 7_600_595, True),
    "web-Google": (875_713, 5_105_039, True),
    "web-NotreDame": (325_729, 1_497_134, True),
    "web-Stanford": (281_903, 2_312_497, True),
    "wiki-Talk": (2_394_385, 5_021_410, True),
    "wiki-Vote": (7_115, 103_689, True),
}
_SHA256_OF_SNAP = {
    "soc-Epinions1": "69a2dab71fa5e3a0715487599fc16ca17ddc847379325a6c765bbad6e3e36938",
    "web-NotreDame": "d4f4916db2b45060d4dde21fca2d6d757f245f4397528f72230eff3bb57e499e",
}


def _of_snap(name: str) -> Dataset:
    vertices, edges, directed = _OF_SNAP[name]
    file = f"{name}.ungraph.txt.gz" if name.startswith("com-") else f"{name}.txt.gz"
    folder = "bigdata/communities/" if name.startswith("com-") else ""
    files = (file, file.removesuffix(".gz"))
    known = (_SHA256_OF_SNAP.get(name),)
    return Dataset(name, (_SNAP + folder + file,), files, directed, vertices, edges, sha256=known)


_OTHERS = (
    Dataset(
        "deezer_HU",
        (_SNAP + "gemsec_deezer_dataset.tar.gz",),
        ("gemsec_deezer_HU_edges.csv.gz", "gemsec_deezer_HU_edges.csv", "HU_edges.csv"),
        directed=False,
        vertices=47_538,
        edges=222_887,
        member="gemsec_deezer_dataset/HU_edges.csv",
    ),
    Dataset(
        "musae_facebook",
        (_SNAP + "facebook_large.zip",),
        ("musae_facebook_edges.csv.gz", "musae_facebook_edges.csv"),
        directed=False,
        vertices=22_470,
        edges=171_002,
        member="facebook_large/musae_facebook_edges.csv",
    ),
    Dataset(
        "musae_git",
        (_SNAP + "git_web_ml.zip",),
        ("musae_git_edges.csv.gz", "musae_git_edges.csv"),
        directed=False,
        vertices=37_700,
        edges=289_003,
        member="git_web_ml/musae_git_edges.csv",
    ),
    Dataset(
        "uk-2007-05@100000",
        (
            _LAW + "uk-2007-05@100000/uk-2007-05@100000.graph",
            _LAW + "uk-2007-05@100000/uk-2007-05@100000.properties",
        ),
        ("uk-2007-05@100000.graph", "uk-2007-05@100000.txt.gz"),
        directed=True,
        vertices=100_000,
        edges=3_050_615,
        sha256=(
            "affa340d5643f83ccd086aaa68c061dd13c01ecd6bf0bd952e0f6900bbf133fb",
            "4323a7bf520bed17cbfbc2a9db0d8508ddd127b30c6cac0916a599817aa611bd",
        ),
    ),
    Dataset(
        "wing",
        ("https://sparse.tamu.edu/MM/DIMACS10/wing.tar.gz",),
        ("wing.graph.gz", "wing.graph", "wing.mtx"),
        directed=False,
        vertices=62_032,
        edges=121_544,
        member="wing/wing.mtx",
    ),
)
CATALOGUE = tuple(sorted([*map(_of_snap, _OF_SNAP), *_OTHERS], key=lambda each: each.name))
