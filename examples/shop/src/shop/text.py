"""Plain helpers: nothing here is typed, and nothing of it changes."""

import re


def words(title: str) -> list[str]:
    """The words of an offer's title, in lower case."""
    return re.findall(r"[a-zà-ÿ]+", title.lower())


def shortened(title: str, length: int = 20) -> str:
    """The title, with … where it is longer than this."""
    return title if len(title) <= length else title[: length - 1] + "…"
