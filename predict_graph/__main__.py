"""The program, as ``python -m predict_graph``."""

from predict_graph.cli import main

if __name__ == "__main__":
    main()
