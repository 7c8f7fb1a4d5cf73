"""The runtime model of a Spark cluster, from sample runs or stored training runs."""
