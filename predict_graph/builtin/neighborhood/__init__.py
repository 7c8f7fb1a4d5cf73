"""The neighbourhood function, by HyperLogLog counters."""
