"""natif run: runs a script or a module with its typed functions, and those of all that it imports, compiled on the way.

    natif run script.py ARGUMENTS…
    natif run -m package.module ARGUMENTS…
Nothing has to be built or decorated: it is natif.install() before the program starts. The exit code is the program's.
"""

import argparse

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="[-m MODULE | SCRIPT] …", help="the program and its arguments")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; exceptions of the program are shown as Python shows them."""
    from natif.packaging.errors import ConfigurationError
    from natif.running import ProgramError, run_module, run_script

    program = arguments.program[1:]  # past the "--" that main() put there
    try:
        if program[:1] == ["-m"] and len(program) > 1:
            run_module(program[1], program[2:])
        elif program and not program[0].startswith("-"):
            run_script(program[0], program[1:])
        else:
            raise ConfigurationError("natif: there is nothing to run; name a script, or a module with -m")
    except ProgramError as error:
        raise ConfigurationError(str(error)) from None
    return cli.OK
