"""Core numbers by decreasing estimates."""
