"""What natif does when it can't do its work: one warning with the cause and the remedy, then Python; an error where native was demanded."""

import os
import threading
import warnings

MODES = ("auto", "native", "python")

_told: set[str] = set()
_lock = threading.Lock()


def mode() -> str:
    """NATIF_MODE: "auto" (default, also where it is empty), "native" (what can't run natively is an error) or "python" (nothing runs
    natively).
    """
    chosen = os.environ.get("NATIF_MODE") or "auto"
    if chosen in MODES:
        return chosen
    warn(f"natif: NATIF_MODE is {chosen!r}, which is none of auto, native and python; natif goes on as with auto")
    return "auto"


def warn(text: str, cause: str = "") -> None:
    """Gives a RuntimeWarning, but one for each cause (where none is given: each text) in a process."""
    with _lock:
        if (cause or text) in _told:
            return
        _told.add(cause or text)
    warnings.warn(text, RuntimeWarning, stacklevel=_frames_of_natif() + 1)


def refuse_setting(text: str) -> None:
    """Says that a setting can't be followed: RuntimeError under NATIF_MODE=native, else one warning, and natif goes on without it."""
    if mode() == "native":
        raise RuntimeError(text)
    warn(f"{text}; natif goes on as without it")


def warn_unavailable(name: str, cause: BaseException) -> None:
    """Says that a function stays Python since natif itself failed."""
    _warn_of(cause, f"{name!r} and the other functions that this concerns run in Python")


def warn_interpreted(name: str, cause: BaseException) -> None:
    """Says that natif interprets a function, op by op, since its native code can't be had."""
    _warn_of(cause, f"{name!r} and the other functions that this concerns are interpreted, which is slower than native code")


def warn_generic(name: str, cause: BaseException) -> None:
    """Says that a bound function runs the code for any size since that for its own sizes can't be had."""
    _warn_of(cause, f"the bound {name!r} runs its code for any size")


def _warn_of(cause: BaseException, consequence: str) -> None:
    text = str(cause) or type(cause).__name__
    text = text if text.startswith("natif: ") else f"natif: {text}"
    warn(f"{text}; {consequence}", cause=text)


def _frames_of_natif() -> int:
    """How many of the innermost frames are natif's, so that the warning points at the user's line."""
    import sys

    depth, frame = 1, sys._getframe(1)
    package = os.path.dirname(__file__) + os.sep  # noqa: PTH120
    while frame is not None and frame.f_code.co_filename.startswith(package):
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return depth - 1
