"""`python -m natif`: the command line, where the script `natif` is not on the path."""

import sys

from natif.cli import main

if __name__ == "__main__":
    sys.exit(main())
