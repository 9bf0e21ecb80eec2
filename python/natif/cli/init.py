"""natif init: adds [tool.natif], with comments, to pyproject.toml, or writes one; never overwrites."""

import argparse
from pathlib import Path

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="the project's folder (default: the current one)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.packaging.initialise import initialise

    print(initialise(Path(arguments.folder)))
    return cli.OK
