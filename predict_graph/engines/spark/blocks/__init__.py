"""Graphs that stay on the cluster, stored in blocks that compiled code scans."""
