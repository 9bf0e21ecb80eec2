"""natif bench: one function, eager against each lane, in turn: medians and spread.

    natif bench shop.scoring:score --shape x=16x32 --shape w=32x8
Axes that nothing gives a size, and that need not agree with one that has a size, are 32. Values are random. Nothing is timed before its
answer is eager's.
"""

import argparse

from natif import cli
from natif.cli.terminal import Terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="what to measure; MODULE is a dotted name or a .py file")
    parser.add_argument(
        "--shape", action="append", default=[], type=_shape, metavar="NAME=SIZExSIZE", help="a tensor argument's shape, such as x=1x32"
    )
    parser.add_argument("--value", action="append", default=[], type=_value, metavar="NAME=NUMBER", help="a scalar argument's value")
    parser.add_argument("--numerics", choices=("exact", "fast"), default="exact", help="of the native contenders (default: exact)")


def _shape(text: str) -> tuple[str, list[int]]:
    name, _, sizes = text.partition("=")
    try:
        return name, [int(size) for size in sizes.split("x")] if sizes else []
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no shape; write NAME=SIZExSIZE, such as x=1x32") from None


def _value(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no value; write NAME=NUMBER, such as n=3") from None


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.benching import measure
    from natif.locating import imported

    terminal = Terminal()
    inputs, timings = measure(imported(arguments.function), dict(arguments.shape), dict(arguments.value), arguments.numerics)
    terminal.line(f"{terminal.paint(arguments.function, 'bold')}  {inputs}")
    terminal.line(f"{'':<8}{'median':>12}{'quartiles':>24}{'eager / it':>12}")
    eager = timings[0].median
    for timing in timings:
        if timing.refusal:
            terminal.line(f"{timing.name:<8}{terminal.paint('not possible', 'yellow')}: {timing.refusal}")
        else:
            spread = f"{timing.low:.2f} - {timing.high:.2f}"
            terminal.line(f"{timing.name:<8}{timing.median:>9.2f} µs{spread:>24}{eager / timing.median:>11.1f}x")
    return cli.OK
