"""natif check: what is native, what stays Python and why, function by function and site by site.

Reads the files' text only: imports neither them nor TensorFlow. A folder stands for every .py file below it; without a path, those of
[tool.natif] paths, else the current folder. Exits with 1 where a file can't be parsed, and with --strict also where a function that has to
be native (require=True, or [tool.natif] require) stays Python.
"""

import argparse
from pathlib import Path

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders")
    parser.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text", help="how to say it (default: text)")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a function that has to be native stays Python")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.cli import formats
    from natif.cli.terminal import Terminal
    from natif.packaging import config
    from natif.packaging.checks import check

    settings = config.load(Path(arguments.paths[0]) if arguments.paths else Path.cwd())
    report, unmet = check(arguments.paths, settings)
    said = unmet if arguments.strict else []
    if arguments.format == "text":
        formats.text(report, said, Terminal())
    else:
        print(formats.WRITERS[arguments.format](report, said))
    return cli.UNSATISFIED if report.problems or said else cli.OK
