"""`python -m nonsmooth`: the command line."""

import sys

from nonsmooth.app.cli import main

sys.exit(main())
