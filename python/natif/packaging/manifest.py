"""What a built package says of itself: the manifest, read at every import, and a description of each module, read for reports."""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from natif._version import __version__
from natif.packaging.compilation import Generated, artifact_stem, levels
from natif.packaging.config import Settings
from natif.packaging.inputs import CASES, parameters
from natif.packaging.modules import Module
from natif.packaging.tags import glibc_floor
from natif.shipped import FORMAT

TENSORFLOW = ">=2.16,<2.22"
"""The TensorFlow versions that natif's runtime knows (runtime/tensorflow_images.cpp)."""

NATIF = ">=0.1,<0.2"
"""The natif versions whose runtime loads artifacts of this one's ABI: the minor version changes when the ABI does (docs/abi.md)."""


def manifest(modules: Sequence[Module], generated: dict[str, Generated], artifacts: dict[str, Path], settings: Settings) -> bytes:
    """manifest.json of the modules of one package; without the artifacts' facts where nothing was compiled."""
    rules = {rule for each in generated.values() for function in each.functions for _, _, rule, _ in function["sites"] if rule}
    content = {
        "format": FORMAT,
        "natif": __version__,
        "requires_natif": NATIF,
        "abi": abi_version(),
        "machine": os.uname().machine,
        "target": settings.target,
        "levels": list(levels(settings.target)),
        "features": needed_features(settings.target),
        "glibc": ".".join(map(str, glibc_floor(artifacts.values()))) if artifacts else "",
        "tensorflow": TENSORFLOW,
        "rules": sorted(rules),
        "modules": {module.name: _module(module, artifacts) for module in modules},
    }
    return _json(content)


def _module(module: Module, artifacts: dict[str, Path]) -> dict[str, Any]:
    stem = artifact_stem(module.name)
    artifact = None
    if module.functions:
        path = artifacts.get(module.name)
        artifact = {"file": f"{stem}.so", "sha256": sha256(path.read_bytes()).hexdigest() if path else ""}
    return {
        "source": module.place,
        "sha256": sha256(module.text).hexdigest(),
        "artifact": artifact,
        "description": f"{stem}.json",
        "functions": [
            {
                "name": function.name,
                "line": function.claim["first_line"],
                "decorated": function.claim["decorated"],
                "lane": function.lane,
                "numerics": function.numerics,
                "guards": function.claim["guards"],
            }
            for function in module.functions
        ],
    }


def description(module: Module, generated: Generated | None) -> bytes:
    """The module's sites, graphs, plans and C++, and the self-test's inputs."""
    built = {}
    if generated is not None:
        built = {function.name: (function, texts) for function, texts in zip(module.functions, generated.functions, strict=True)}
    reports = {report.name: report for report in module.reports}
    functions = {}
    for claim in module.claims:
        name = claim["name"]
        facts = {key: claim[key] for key in ("name", "line", "sites")} | {
            "native": name in built,
            "reason": reports[name].reason,
            "lanes": [],
        }
        if name in built:
            function, texts = built[name]
            facts |= {"ir": texts["ir"], "plan": texts["plan"], "lanes": texts["sites"], "numerics": function.numerics}
            facts |= {"parameters": parameters(texts["ir"]), "cases": CASES}
        functions[name] = facts
    return _json({"functions": functions, "cpp": generated.cpp if generated else ""})


def abi_version() -> int:
    """The version of the artifact ABI, from the header that generated code includes."""
    import re

    from natif.toolchain import include_folder

    match = re.search(r"NATIF_ABI_VERSION\s*=?\s*(\d+)", (include_folder() / "runtime" / "abi.h").read_text(encoding="utf-8"))
    if match is None:
        raise RuntimeError("natif: runtime/abi.h names no ABI version; install natif again")
    return int(match[1])


def needed_features(target: str) -> list[str]:
    """The processor features that code for this machine may use, by the kernel's names; none for a named target, whose level says it."""
    import re

    from natif.toolchain import cpu_flags

    if target != "native":
        return []
    instructions = (
        r"pni|ssse3|sse4_\w+|popcnt|movbe|f16c|fma|bmi[12]|abm|adx|avx\w*|gfni|vaes|vpclmulqdq|sha_ni|aes|pclmulqdq|amx\w*|asimd\w*|sve\w*"
    )
    return sorted(flag for flag in cpu_flags() if re.fullmatch(instructions, flag))


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=True) + "\n").encode()
