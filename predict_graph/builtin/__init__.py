"""The algorithms that come with the tool, a folder each: definition, kernels, sampling."""
