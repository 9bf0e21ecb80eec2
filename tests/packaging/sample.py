"""The sample project, and changes to what was built of it."""

import json
from pathlib import Path

SHOP = Path(__file__).parents[2] / "examples" / "shop"


def change_manifest(package, change):
    """Rewrites a built package's manifest; `change` gets its content."""
    file = package / "_natif" / "manifest.json"
    content = json.loads(file.read_bytes())
    change(content)
    file.write_text(json.dumps(content))
