"""natif capabilities: the ops and forms that natif makes native, from the compiler itself."""

import argparse
import json

from natif import cli
from natif.cli.terminal import Terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to say it (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    import natif

    manifest = natif.capabilities()
    if arguments.format == "json":
        print(json.dumps(manifest, indent=2, sort_keys=True))
        return cli.OK
    terminal = Terminal()
    for rule in manifest["rules"]:
        lanes = ", ".join(rule["lanes"])
        terminal.line(f"{terminal.paint(rule['rule'], 'bold', 'cyan'):<24} {rule['summary']}  [{lanes}]")
        terminal.line(f"    {', '.join([*rule['spellings'], *filter(None, [rule['operator']])])}")
        if rule["exactness"]["domain"]:
            terminal.line(terminal.paint(f"    exact: {rule['exactness']['domain']}", "dim"))
    terminal.line(f"{len(manifest['rules'])} ops, {len(manifest['diagnostics'])} diagnostics; natif {manifest['natif']}")
    return cli.OK
