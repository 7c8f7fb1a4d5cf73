"""Semi-clusters: groups of vertices with more edges inside than outwards."""
