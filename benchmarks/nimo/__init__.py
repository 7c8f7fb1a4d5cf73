"""NIMO's evaluation remade on emulated machines: python -m benchmarks.nimo."""
