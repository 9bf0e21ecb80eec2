"""natif build: a package with its native code, and a wheel of it, in dist/.

PATH is a package, a folder of packages (such as src), a project's folder or a single module; without one, [tool.natif] paths, else the
project around the current folder. Every module keeps its import path; typed functions are native under their own names, all else is as
written.
What is not given comes from the environment (NATIF_TARGET, NATIF_NUMERICS, NATIF_JOBS, NATIF_OUT), from [tool.natif], or is the default.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from natif import cli
from natif.cli.terminal import Terminal

if TYPE_CHECKING:
    from natif.packaging import BuildResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from natif.packaging.config import CHOICES

    parser.add_argument("paths", nargs="*", metavar="PATH", help="a package, a folder of packages or a module")
    parser.add_argument(
        "--target", choices=CHOICES["target"], help="portable: any processor of this kind (default); native: this one's features"
    )
    parser.add_argument(
        "--numerics", choices=CHOICES["numerics"], help="exact: eager's very bits (default); fast: within the documented bounds"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="compilers at once (default: one for each processor)")
    parser.add_argument("--out", metavar="FOLDER", help="where the package and the wheel go (default: dist)")
    parser.add_argument("--no-cache", action="store_true", help="compile everything, and put nothing into the cache")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.packaging import build

    with Terminal(sys.stderr) as status:
        result = build(
            *arguments.paths,
            out=arguments.out,
            target=arguments.target,
            numerics=arguments.numerics,
            jobs=arguments.jobs,
            cache=not arguments.no_cache,
            progress=lambda module, done, count: status.progress(f"[{done}/{count}] {module}"),
        )
    say_result(result, Terminal())
    return cli.OK


def say_result(result: "BuildResult", terminal: Terminal) -> None:
    """What was made, what stays Python, and where it is."""
    from natif.cli.formats import relative

    for line in result.python:
        terminal.line(f"{terminal.paint('stays Python', 'yellow')}  {line}")
    counted = f"{len(result.native)} native function{'' if len(result.native) == 1 else 's'}"
    terminal.line(("up to date, nothing to do: " if result.up_to_date else "") + terminal.paint(counted, "bold", "green"))
    for path in [*result.packages, *([result.wheel] if result.wheel else [])]:
        terminal.line(f"  {relative(str(path))}")
