"""The command line."""

from predict_graph.cli.app import main

__all__ = ["main"]
