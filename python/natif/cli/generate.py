"""natif generate: writes the package tree with the generated C++, without compiling it.

The tree is what natif build writes, with a folder of C++ files in the place of each shared object.
"""

import argparse

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from natif.packaging.config import CHOICES

    parser.add_argument("paths", nargs="*", metavar="PATH", help="a package, a folder of packages or a module")
    parser.add_argument("--target", choices=CHOICES["target"], help="the processors that the code is for (default: portable)")
    parser.add_argument(
        "--numerics", choices=CHOICES["numerics"], help="exact: eager's very bits (default); fast: within the documented bounds"
    )
    parser.add_argument("--out", metavar="FOLDER", help="where the tree goes (default: build/natif)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.cli.build import say_result
    from natif.cli.terminal import Terminal
    from natif.packaging import generate

    result = generate(*arguments.paths, out=arguments.out, target=arguments.target, numerics=arguments.numerics)
    say_result(result, Terminal())
    return cli.OK
