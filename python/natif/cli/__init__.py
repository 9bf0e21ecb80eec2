"""The command line: `natif COMMAND …`. Each command is a thin file of this folder; the work is in the library. See docs/cli.md.

Exit codes: 0 done; 1 something was checked and is not as it has to be; 2 the command line or the configuration is wrong; 3 the work could
not be done (a file that can't be read, a compiler that is missing or fails); 4 a fault of natif's; 130 interrupted.
An error is one or two lines on stderr that name the file, the cause and the remedy; NATIF_TRACEBACK=1 adds Python's traceback.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from natif._version import __version__

OK, UNSATISFIED, USAGE, FAILED, FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130

COMMANDS = ("init", "check", "generate", "build", "bench", "explain", "capabilities", "doctor", "clean", "run")


class Parser(argparse.ArgumentParser):
    """argparse, with errors in one line."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the command line, and where help is."""
        self.exit(USAGE, f"natif: {message}; see {self.prog} --help\n")


def parser() -> Parser:
    """The parser of all commands; `command` is the module that runs."""
    top = Parser(prog="natif", description="Compiles typed TensorFlow functions of Python packages to native code with eager's very bits.")
    top.add_argument("--version", action="version", version=f"natif {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"natif.cli.{name}")
        summary = str(module.__doc__).strip().partition("\n")[0].partition(": ")[2]
        command = commands.add_parser(name, help=summary, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(command)
        command.set_defaults(command=module)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"] and given[1:2] not in (["-h"], ["--help"]):
        given.insert(1, "--")  # what follows is the program's, options too
    try:
        chosen = parser().parse_args(given)
        code = chosen.command.run(chosen)
        sys.stdout.flush()
        return int(code)
    except KeyboardInterrupt:
        _say("natif: interrupted; nothing was left half-written")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has all that it wants; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    """Says what went wrong; the exit code that fits."""
    from natif.errors import CompileError
    from natif.packaging.errors import ConfigurationError, RequirementError

    if os.environ.get("NATIF_TRACEBACK") == "1":
        import traceback

        traceback.print_exc()
    text = " ".join(str(error).split("\n")) if not isinstance(error, RequirementError) else str(error)
    if isinstance(error, ConfigurationError):
        code = USAGE
    elif isinstance(error, RequirementError):
        code = UNSATISFIED
    elif isinstance(error, CompileError) or (text.startswith("natif: ") and "internal error" not in text):
        code = FAILED
    elif isinstance(error, OSError):
        text = f"natif: {error.filename or 'the system'}: {error.strerror or error}; correct that and run the command again"
        code = FAILED
    else:
        text = f"natif: a fault of natif: {type(error).__name__}: {text}; please report it, with the traceback that NATIF_TRACEBACK=1 shows"
        code = FAULT
    _say(text if text.startswith("natif: ") else f"natif: {text}")
    return code


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
