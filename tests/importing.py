"""Programs that a test writes, as imported modules."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def imported(folder: Path, stem: str, text: str) -> Iterator[ModuleType]:
    """The module of this text, written into `folder`, which is on the path as long as the module is used. `stem` begins its name."""
    name = f"{stem}_{os.getpid()}"
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
