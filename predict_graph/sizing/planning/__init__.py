"""How many machines: by deadline, budget or price."""
