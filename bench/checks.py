"""Whether an answer is right: eager's very bits where the contender claims them, within a stated tolerance otherwise."""

from __future__ import annotations

import numpy as np

from bench.case import Array

# Of the largest magnitude of the reference: well above what another order of summation or another formula for tanh may give at these sizes
# (1e-6), well below what a wrong function gives.
TOLERANCE = 2e-5
# Rows whose two best probabilities lie closer than this share of the better may fall to either class where only a tolerance is claimed.
TIE = 2e-5


def same_bits(got: Array, reference: Array) -> bool:
    """Equal dtype, shape and bits."""
    if got.dtype != reference.dtype or got.shape != reference.shape:
        return False
    return got.tobytes() == reference.tobytes()


def difference(got: Array, reference: Array) -> float:
    """The largest difference, as a share of the reference's largest magnitude; infinite where one is NaN and the other is not."""
    both_nan = np.isnan(got) & np.isnan(reference)
    apart = np.abs(np.where(both_nan, 0, got.astype(np.float64) - reference.astype(np.float64)))
    if np.isnan(apart).any():
        return float("inf")
    return float(apart.max(initial=0) / max(float(np.abs(reference[np.isfinite(reference)]).max(initial=0)), np.finfo(np.float32).tiny))


def clear_rows(probabilities: Array) -> Array:
    """Which rows have a clear winner."""
    best = np.sort(probabilities, axis=-1)
    clear: Array = best[..., -1] - best[..., -2] > TIE * best[..., -1]
    return clear


def fault(got: Array, reference: Array, exact: bool, probabilities: Array | None = None) -> str | None:
    """What is wrong with an answer, or None. `probabilities` are the reference's, for answers that are classes."""
    if got.shape != reference.shape:
        return f"has shape {list(got.shape)}, eager's is {list(reference.shape)}"
    if exact:
        differing = int((got != reference).sum())
        return None if same_bits(got, reference) else f"differs from eager's bits in {differing} of {reference.size} elements"
    if reference.dtype.kind in "iu":
        rows = clear_rows(probabilities) if probabilities is not None else np.ones(reference.shape, bool)
        wrong = int((got != reference)[rows].sum())
        return f"{wrong} of {reference.size} classes differ from eager's" if wrong else None
    apart = difference(got, reference)
    return None if apart <= TOLERANCE else f"differs from eager by {apart:.2g} of the largest magnitude (allowed: {TOLERANCE:g})"
