"""One task on unlike machines (NIMO): watched, modelled, placed."""
