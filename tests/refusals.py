"""What our errors keep: one sentence, and the exit status of their kind."""

from functools import partial

import pytest

from predict_graph.errors import JobError, RequestError


def _raised(kind, said, call, /, *given, **options):
    """Check that a call raises an error of a kind, in one sentence that matches; return it."""
    with pytest.raises(kind, match=said) as caught:
        call(*given, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == kind.exit_status
    return str(caught.value)


refused = partial(_raised, RequestError)
failed = partial(_raised, JobError)


def invalid(said, call, /, *given, **options):
    """Check that a call of a package that has no errors of its own is refused; return why."""
    with pytest.raises(ValueError, match=said) as caught:
        call(*given, **options)
    return str(caught.value)
