"""Golden cells: input and expected output side by side in one text file.

    === what the cell shows
    the input
    --->
    the expected output

`python -m pytest tests --rewrite-goldens` writes the outputs that the compiler gives now; review the difference before committing it.
"""

from dataclasses import dataclass
from pathlib import Path

TITLE, ARROW = "=== ", "--->"


@dataclass
class Cell:
    path: Path
    title: str
    given: str
    expected: str

    def __str__(self) -> str:
        return self.title

    def check(self, actual: str, rewrite: bool) -> None:
        """Compares, or replaces the expectation in the file."""
        actual = actual.strip("\n")
        if rewrite:
            cells = read(self.path)
            for cell in cells:
                if cell.title == self.title:
                    cell.expected = actual
            self.path.write_text("\n".join(_text(cell) for cell in cells), encoding="utf-8")
        else:
            assert actual == self.expected


def read(path: Path) -> list[Cell]:
    """The cells of a file, in order. Titles must be different."""
    cells = []
    for part in f"\n{path.read_text(encoding='utf-8')}".split(f"\n{TITLE}")[1:]:
        title, _, rest = part.partition("\n")
        given, arrow, expected = rest.partition(f"\n{ARROW}\n")
        assert arrow, f"{path}: {title}: no {ARROW}"
        cells.append(Cell(path, title.strip(), given.strip("\n"), expected.strip("\n")))
    assert len({cell.title for cell in cells}) == len(cells), f"{path}: two cells have one title"
    return cells


def _text(cell: Cell) -> str:
    return f"{TITLE}{cell.title}\n{cell.given}\n{ARROW}\n{cell.expected}\n"
