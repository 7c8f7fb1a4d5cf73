"""Distributions as an installer would leave them in a folder."""


def install(folder, name, points, **modules):
    """Leave modules in a folder, and what a distribution of this name says of its entry points."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
