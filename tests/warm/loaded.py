"""For a process that others are forked from: what it imports first."""

from tests.warm.imports import load

load()
