"""Whether natif can be imported here, asked once. Where it can't, its markers alone are put in place from the tree (they need neither its
compiler nor TensorFlow), so that the programs still load and the other contenders can be measured; natif's own rows then name the failure.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

MARKERS = Path(__file__).resolve().parent.parent / "python" / "natif" / "types.py"


def import_natif() -> str | None:
    """Imports natif; None, or why that failed."""
    try:
        import natif  # noqa: F401
    except ImportError as error:
        return str(error)
    return None if hasattr(sys.modules["natif"], "compile") else f"{sys.modules['natif'].__path__} is no complete natif"


def place_markers() -> None:
    """Makes `from natif.types import …` work without natif."""
    spec = importlib.util.spec_from_file_location("natif.types", MARKERS)
    assert spec is not None
    assert spec.loader is not None
    markers = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("natif", ModuleType("natif"))
    sys.modules["natif.types"] = markers
    spec.loader.exec_module(markers)


natif_failure = import_natif()
if natif_failure is not None:
    place_markers()
