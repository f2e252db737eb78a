"""``python -m bench.cli``: the same as ``placebench``."""

import sys

from bench.cli import main

sys.exit(main())
