"""The program, as ``python -m predict_graph``."""

from predict_graph.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
