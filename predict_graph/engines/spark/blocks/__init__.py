"""Graphs that stay on the cluster: packed there, and looked at by passes over compiled blocks."""
