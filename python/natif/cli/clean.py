"""natif clean: removes what natif build and natif generate wrote; with --all, the cache too.

Only files that a build recorded are removed, and folders that are empty then.
"""

import argparse
from pathlib import Path

from natif import cli


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--all", action="store_true", help="empty the cache of artifacts as well")
    parser.add_argument("--out", metavar="FOLDER", help="where the build went (default: dist)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    from natif.cli.formats import relative
    from natif.packaging import config
    from natif.packaging.build import GENERATED, out_folder
    from natif.packaging.cleaning import clean

    settings = config.load(Path.cwd(), out=arguments.out)
    for folder in (out_folder(settings, explicit=arguments.out is not None), Path.cwd() / GENERATED):
        count = clean(folder)
        if count:
            print(f"removed {count} files from {relative(str(folder))}")
    if arguments.all:
        from natif import cache, cache_folder

        print(f"emptied the cache {cache_folder.folder_name()}: {cache.clear():,} bytes")
    return cli.OK
