"""Text for people: colour where the stream is a terminal that shows it, and a line of progress that is written over.

NO_COLOR switches colour off, FORCE_COLOR on, wherever the output goes.
"""

import os
import shutil
import sys
from typing import Any, TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Terminal:
    """One stream and what it can show."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = stream if stream is not None else sys.stdout
        self.interactive = self.stream.isatty() and os.environ.get("TERM", "") != "dumb"
        self.colour = "NO_COLOR" not in os.environ and (self.interactive or bool(os.environ.get("FORCE_COLOR")))
        self._pending = False

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles, or plain."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"

    def line(self, text: str = "") -> None:
        """A line of its own."""
        self.clear()
        print(text, file=self.stream, flush=self.interactive)

    def progress(self, text: str) -> None:
        """A line that the next one replaces; on a stream that is no terminal, a line as any other."""
        if not self.interactive:
            self.line(text)
            return
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=self.stream, flush=True)
        self._pending = True

    def clear(self) -> None:
        """Takes the line of progress away."""
        if self._pending:
            print("\r\x1b[K", end="", file=self.stream)
            self._pending = False

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *reason: Any) -> None:
        self.clear()
