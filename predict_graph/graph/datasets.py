"""Named datasets: local copies first, then the cache, then a download.

A local copy is looked for in the folder that the environment variable ``PREDICT_GRAPH_DATA`` names
and in its ``graphs/``; then in the cache folder of the user (``PREDICT_GRAPH_CACHE`` names another
one). A download is checked against the SHA-256 that comes with this package where there is one.

The datasets are listed in ``catalogue.json``, with what their publishers say about their size.
Addresses without encryption need a SHA-256 there, and a test checks that.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from predict_graph.errors import JobError, RequestError, unknown_name
from predict_graph.files import written_beside
from predict_graph.limits import check_unpacked

_DATA, _CACHE = "PREDICT_GRAPH_DATA", "PREDICT_GRAPH_CACHE"
_BAD_ARCHIVE = (zipfile.BadZipFile, tarfile.TarError, KeyError)


@dataclass(frozen=True)
class Dataset:
    """A graph that has a name.

    Parameters
    ----------
    name : str
    addresses : sequence of str
        What to download; the first one is the graph, others have to lie beside it.
    files : sequence of str
        File names under which a local copy is recognized, the best first.
    directed : bool
    vertices, edges : int
        As published; an undirected edge counts once.
    member : str, optional
        File inside the archive that is downloaded; its last part is one of `files`.
    sha256 : sequence of str
        Of what each address gives; none where that is not known for certain.
    """

    name: str
    addresses: Sequence[str]
    files: Sequence[str]
    directed: bool
    vertices: int
    edges: int
    member: str | None = None
    sha256: Sequence[str] = ()


_LISTED = json.loads(Path(__file__).with_name("catalogue.json").read_text("utf-8"))
CATALOGUE = {name: Dataset(name, **facts) for name, facts in _LISTED.items()}
"""All datasets by their names."""


def dataset(name: str) -> Dataset:
    """Return the description of a dataset.

    Raises
    ------
    RequestError
        If there is no dataset of this name.

    Examples
    --------
    >>> dataset("web-NotreDame").edges
    1497134
    """
    if name not in CATALOGUE:
        raise unknown_name("dataset", name, CATALOGUE)
    return CATALOGUE[name]


def cache_folder() -> Path:
    """Return the folder where downloads are kept."""
    if os.environ.get(_CACHE):
        return Path(os.environ[_CACHE])
    import platformdirs

    return Path(platformdirs.user_cache_dir("predict-graph")) / "datasets"


def dataset_path(name: str) -> Path | None:
    """Return the local copy of a dataset, or None when it has yet to be downloaded.

    Raises
    ------
    RequestError
        If there is no dataset of this name, or the folder of local copies is none.
    """
    described, data = dataset(name), os.environ.get(_DATA)
    if data and not Path(data).is_dir():
        raise RequestError(f"{_DATA} is {data!r}, which is not a folder")
    local = _copy_in(described, Path(data), Path(data) / "graphs") if data else None
    return local or _copy_in(described, cache_folder())


def fetch(name: str, *, progress: Any = False) -> Path:
    """Return the local copy of a dataset; download it first when there is none.

    Parameters
    ----------
    name : str
    progress : bool or object
        What shows the progress of a download: an object with ``total``, ``update``, ``reset`` and
        ``close``, as pooch describes it. True takes tqdm, if that is installed.

    Raises
    ------
    RequestError
        If there is no dataset of this name.
    JobError
        If the download fails, or is not the published file.
    """
    return dataset_path(name) or _download(dataset(name), progress)


def _copy_in(described: Dataset, *folders: Path) -> Path | None:
    places = (folder / file for file in described.files for folder in folders)
    return next(filter(_complete, places), None)


def _complete(path: Path) -> bool:
    """Return whether a file is there, with its properties when it is a WebGraph."""
    if path.suffix == ".graph" and "@" in path.name:
        return path.is_file() and path.with_suffix(".properties").is_file()
    return path.is_file()


def _download(described: Dataset, progress: Any) -> Path:
    """Download a dataset to the cache; return its file there, the first of several."""
    import pooch
    import requests

    folder = cache_folder()
    pooch.get_logger().setLevel("WARNING")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for address, published in zip_longest(described.addresses, described.sha256):
            found = pooch.retrieve(
                address,
                known_hash=published and f"sha256:{published}",
                fname=address.rpartition("/")[2],
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=progress, timeout=60),
            )
            files.append(Path(found))
            if described.member:
                files[-1] = _unpacked(files[-1], described.member)
        return files[0]
    except (OSError, requests.RequestException, ValueError, *_BAD_ARCHIVE) as error:
        address, reason = described.addresses[0], str(error)
        if isinstance(error, requests.Timeout):
            reason = "the server does not answer"
        elif isinstance(error, requests.ConnectionError):
            reason = "there is no connection to the server"
        raise JobError(
            f"the dataset {described.name} cannot be downloaded from {address}: {reason}; "
            f"a copy called {described.files[0]} in the folder that {_DATA} names is used as it is"
        ) from error


def _unpacked(archive: Path, member: str) -> Path:
    """Take a file out of an archive, within the limits, drop the archive, and return the file."""
    target = archive.with_name(Path(member).name)
    zipped = archive.suffix == ".zip"
    packed: Any = (zipfile.ZipFile if zipped else tarfile.open)(archive)
    with packed:
        size = packed.getinfo(member).file_size if zipped else packed.getmember(member).size
        check_unpacked(str(archive), size, archive.stat().st_size)
        opened = packed.open(member) if zipped else packed.extractfile(member)
        with opened as content, written_beside(target) as beside, beside.open("wb") as out:
            shutil.copyfileobj(content, out)
    archive.unlink()
    return target
