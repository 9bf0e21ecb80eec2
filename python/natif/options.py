"""The options of one native function."""

from dataclasses import dataclass
from typing import Any

_CHOICES = {
    "lane": ("auto", "tfe", "fused"),
    "numerics": ("exact", "fast"),
    "on_mismatch": ("raise", "fallback"),
    "target": ("native", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"),
}


@dataclass(frozen=True)
class Options:
    """As natif.native describes them."""

    lane: str = "auto"
    numerics: str = "exact"
    on_mismatch: str = "raise"
    require: bool = False
    target: str = "native"
    specialize: bool = True

    @classmethod
    def checked(cls, **given: Any) -> "Options":
        """The options with these set. TypeError for an unknown option, ValueError for a value that it can't have."""
        for name, value in given.items():
            if name not in cls.__dataclass_fields__:
                raise TypeError(f"natif: there is no option {name!r}; there are {', '.join(cls.__dataclass_fields__)}")
            if name in _CHOICES and value not in _CHOICES[name]:
                raise ValueError(f"natif: {name} is one of {', '.join(map(repr, _CHOICES[name]))}, not {value!r}")
            if name not in _CHOICES and not isinstance(value, bool):
                raise TypeError(f"natif: {name} is True or False, not {value!r}")
        return cls(**given)
