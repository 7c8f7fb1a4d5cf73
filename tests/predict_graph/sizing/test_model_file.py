import itertools
import json

import numpy as np
import pytest

from costmodels.scaling import SCALING_MODELS, Term
from predict_graph.errors import RequestError
from predict_graph.sizing import fit_job, load_model, read_measurements, save_model


@pytest.fixture
def runs(written):
    """Measured runs of a job with noise, at several scales."""
    rng = np.random.default_rng(3)
    rows = ["scale,machines,seconds"]
    for scale, machines, _ in itertools.product((1, 2, 4), (1, 2, 4, 8, 16), range(2)):
        seconds = (3 + 40 * scale / machines + 0.4 * machines) * rng.lognormal(0, 0.03)
        rows.append(f"{scale},{machines},{seconds!r}")
    return read_measurements(written("\n".join(rows) + "\n"))


@pytest.mark.parametrize(
    ("name", "weights"),
    [(n, w) for n in SCALING_MODELS for w in ("relative", "none") if (n, w) != ("auto", "none")],
)
def test_a_model_comes_back_exactly(runs, tmp_path, name, weights):
    fitted = fit_job(runs, name, weights=weights, iterations=25)
    save_model(fitted, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    where = [0.3, 1, 2, 7.7, 1e4], [1, 3, 16, 33, 1000]
    assert loaded.seconds(*where).tolist() == fitted.seconds(*where).tolist()
    assert loaded.bounds(*where, 0.9)[1].tolist() == fitted.bounds(*where, 0.9)[1].tolist()
    assert loaded.document() == fitted.document()
    assert loaded.estimator.get_params().keys() == fitted.estimator.get_params().keys()
    assert loaded.iterations == 25
    assert loaded.warnings == fitted.warnings


def test_added_terms_come_back_but_those_of_ones_own(runs, tmp_path):
    fitted = fit_job(runs, "ernest", terms=["sqrt(machines)"])
    save_model(fitted, tmp_path / "model.json")
    assert "sqrt(machines)" in load_model(tmp_path / "model.json").estimator.terms_
    with pytest.raises(RequestError, match="terms is no option of the model 'auto'"):
        fit_job(runs, "auto", terms=["sqrt(machines)"])
    with pytest.raises(RequestError, match="unknown term 'cube'"):
        fit_job(runs, "ernest", terms=["cube"])
    fitted = fit_job(runs, "ernest", terms=[Term("own", lambda scale, machines: scale)])
    with pytest.raises(RequestError, match="the term 'own' of your own cannot be saved"):
        save_model(fitted, tmp_path / "own.json")
    assert not (tmp_path / "own.json").exists()


def changed(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


CHANGED = "was changed after it was written"
NEWER = "written by predict-graph 9.0, which is newer"


CHANGES = [
    (lambda d: d.update(weights="none"), CHANGED),
    (lambda d: d["runs"]["seconds"].__setitem__(0, 1.0), CHANGED),
    (lambda d: d.pop("checksum"), CHANGED),
    (lambda d: d.update(schema=2, version="9.0"), NEWER),
    (lambda d: d.update(schema="two"), "has the schema 'two'; accepted: 1$"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_changed_or_newer_file_is_refused(runs, tmp_path, change, said):
    path = tmp_path / "model.json"
    save_model(fit_job(runs, "ernest"), path)
    changed(path, lambda document: None)  # formatting is no change
    load_model(path)
    changed(path, change)
    with pytest.raises(RequestError, match=said):
        load_model(path)


def test_what_cannot_be_fitted(written):
    one = read_measurements(written("scale,machines,seconds\n1,2,3\n2,2,5\n"))
    with pytest.raises(RequestError, match="at least two machine counts"):
        fit_job(one, "ernest")
    few = read_measurements(written("scale,machines,seconds\n1,2,3\n1,4,2\n"))
    for model, options, said in (
        ("masha", {}, r"cannot be fitted to .*table.csv.*too few"),
        ("cubic", {}, "unknown model 'cubic'; accepted: auto, ernest"),
        ("ernest", {"weights": "some"}, "unknown weights 'some'"),
        ("auto", {"iterations": 0}, "iterations are 0"),
    ):
        with pytest.raises(RequestError, match=said):
            fit_job(few, model, **options)
    with pytest.raises(RequestError, match="the confidence is"):
        fit_job(few).bounds(1, 2, 0.49)
