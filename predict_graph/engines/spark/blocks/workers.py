"""The Python workers of executors."""

from __future__ import annotations

import gc
import sys
from zipimport import zipimporter


def keep_loaded() -> None:
    """Disable per-task work of Spark's Python workers that exceeds a small superstep.

    Before a task Spark clears Python's import caches, and Python then rereads the directories of
    Spark's zip files, once per package. After a task it collects garbage among all loaded objects.
    Zip importers are recreated when needed.
    """
    if "pyspark.worker" not in sys.modules:
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
    gc.freeze()
