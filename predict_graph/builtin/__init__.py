"""The built-in algorithms, one folder each: definition, kernels and sampling."""
