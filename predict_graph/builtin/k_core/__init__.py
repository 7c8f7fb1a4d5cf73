"""Core numbers by estimates that fall."""
