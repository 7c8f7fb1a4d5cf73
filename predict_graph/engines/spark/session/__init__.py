"""Spark sessions: resources, requirements, opening and failures."""
