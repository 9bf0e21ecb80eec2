"""natif doctor: looks at all that natif needs of this machine, and says the remedy for what is not as it has to be.

Exits with 1 where natif can't do its work.
"""

import argparse

from natif import cli
from natif.cli.terminal import Terminal

_COLOURS = {"good": "green", "note": "yellow", "bad": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments: none."""


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.diagnosis import examine

    terminal = Terminal()
    worst = "good"
    for finding in examine():
        terminal.line(f"{terminal.paint(f'{finding.status:<5}', 'bold', _COLOURS[finding.status])} {finding.subject:<11} {finding.text}")
        if finding.remedy:
            terminal.line(f"{'':<18}{terminal.paint('remedy:', 'cyan')} {finding.remedy}")
        worst = "bad" if finding.status == "bad" else worst
    return cli.UNSATISFIED if worst == "bad" else cli.OK
