"""python -m toolyard"""

import sys

from toolyard.cli import main

sys.exit(main())
