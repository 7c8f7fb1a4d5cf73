"""Any graph function of a Python library, or one's own, predicted before it runs."""

from predict_graph.functions.naming import is_function

__all__ = ["is_function"]
