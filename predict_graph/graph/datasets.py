"""Named datasets: local copies first, then the cache, then a download.

A local copy is looked for in the folder that the environment variable ``PREDICT_GRAPH_DATA`` names
and in its ``graphs/``; then in the cache folder of the user (``PREDICT_GRAPH_CACHE`` names another
one). A download is checked against the published SHA-256 where there is one; otherwise the SHA-256
of the first download is recorded in the cache, and the file is checked against it from then on.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from predict_graph.errors import JobError, RequestError, unknown_name
from predict_graph.graph.catalogue import CATALOGUE, Dataset

__all__ = ["Dataset", "cache_folder", "dataset", "dataset_names", "dataset_path", "fetch"]

_DATA, _CACHE = "PREDICT_GRAPH_DATA", "PREDICT_GRAPH_CACHE"
_CHECKSUMS = "checksums.json"


def dataset_names() -> list[str]:
    """Return the names of all datasets.

    Examples
    --------
    >>> "soc-LiveJournal1" in dataset_names()
    True
    """
    return [described.name for described in CATALOGUE]


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
    for described in CATALOGUE:
        if described.name == name:
            return described
    raise unknown_name("dataset", name, dataset_names())


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
        If there is no dataset of this name.
    """
    described = dataset(name)
    return _local_copy(described) or _cached_copy(described)


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
        If the download fails, or the file in the cache is not the one that was downloaded.
    """
    described = dataset(name)
    local = _local_copy(described)
    if local is not None:
        return local
    cached = _cached_copy(described)
    if cached is None:
        _download(described, progress)
        cached = _cached_copy(described)
        if cached is None:
            raise JobError(f"the download of {name} holds no file {described.files[0]}")
    _verify(cached)
    return cached


def _local_copy(described: Dataset) -> Path | None:
    data = os.environ.get(_DATA)
    if not data:
        return None
    if not Path(data).is_dir():
        raise RequestError(f"{_DATA} is {data!r}, which is not a folder")
    folders = (Path(data), Path(data) / "graphs")
    places = (folder / file for file in described.files for folder in folders)
    return next((place for place in places if _complete(place)), None)


def _cached_copy(described: Dataset) -> Path | None:
    places = (cache_folder() / file for file in described.files)
    return next((place for place in places if _complete(place)), None)


def _complete(path: Path) -> bool:
    """Tell whether a file is there, with its properties when it is a WebGraph."""
    if path.suffix == ".graph" and "@" in path.name:
        return path.is_file() and path.with_suffix(".properties").is_file()
    return path.is_file()


def _download(described: Dataset, progress: Any) -> None:
    import pooch
    import requests

    folder = cache_folder()
    pooch.get_logger().setLevel("WARNING")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for i, address in enumerate(described.addresses):
            known = f"sha256:{described.sha256}" if described.sha256 and i == 0 else None
            target = address.rpartition("/")[2]
            pooch.retrieve(
                address,
                known_hash=known,
                fname=target,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=progress, timeout=60),
            )
            if described.member:
                _unpack(folder / target, described)
            else:
                _record(folder / target)
    except (OSError, requests.RequestException, ValueError) as error:
        address = described.addresses[0]
        raise JobError(
            f"the dataset {described.name} cannot be downloaded from {address}: {_reason(error)}; "
            f"a copy called {described.files[0]} in the folder that {_DATA} names is used as it is"
        ) from error


def _reason(error: Exception) -> str:
    """Say in a few words why a download failed."""
    import requests

    if isinstance(error, requests.Timeout):
        return "the server does not answer"
    if isinstance(error, requests.ConnectionError):
        return "there is no connection to the server"
    return str(error)


def _unpack(archive: Path, described: Dataset) -> None:
    """Take the one file out of an archive that is wanted, and drop the archive."""
    import tarfile
    import zipfile

    wanted = (described.member or "").rpartition("/")[2]
    target = archive.parent / next(
        file for file in described.files if not file.endswith((".gz", ".graph"))
    )
    beside = target.with_name(f".{target.name}.part")
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            found = [name for name in packed.namelist() if name.rpartition("/")[2] == wanted]
            content = packed.read(found[0]) if found else b""
    else:
        with tarfile.open(archive) as packed:
            members = [m for m in packed.getmembers() if m.name.rpartition("/")[2] == wanted]
            file = packed.extractfile(members[0]) if members else None
            content = file.read() if file else b""
    if not content:
        raise ValueError(f"{archive.name} holds no {wanted}")
    beside.write_bytes(content)
    beside.replace(target)
    _record(target)
    archive.unlink()


def _checksums() -> dict[str, str]:
    try:
        content: Any = json.loads((cache_folder() / _CHECKSUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _record(path: Path) -> None:
    from predict_graph.files import written_beside

    known = {**_checksums(), path.name: _sha256(path)}
    with written_beside(cache_folder() / _CHECKSUMS) as beside:
        beside.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _verify(path: Path) -> None:
    """Check a cached file against its checksum; record it when there is none."""
    known = _checksums().get(path.name)
    if known is None:
        _record(path)
    elif known != _sha256(path):
        raise JobError(
            f"{path} is not the file that was downloaded first (SHA-256 differs); "
            "delete it to download it again"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
