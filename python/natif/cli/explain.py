"""natif explain: one function's source with the lane of every line, its graph, its kernels and its C++.

With --html, all of it goes into one page that needs nothing else, with the graph drawn. Reads the file's text only.
"""

import argparse
from pathlib import Path

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="what to explain; MODULE is a dotted name or a .py file")
    parser.add_argument("--html", metavar="FILE", help="write a page instead")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.cli.terminal import Terminal
    from natif.explanation import explain, page, text
    from natif.packaging.output import write_file

    explanation = explain(arguments.function)
    if arguments.html is None:
        text.write(explanation, Terminal())
    else:
        write_file(Path(arguments.html), page.page(explanation).encode())
        print(f"wrote {arguments.html}")
    return cli.OK
