"""Every knob in one table, and one frozen object read from flags, environment and file.

On the path to the first answer: the standard library only, and no heavy part of it.
"""

from toolyard.settings.knob import Knob
from toolyard.settings.load import FILE_NAME, load
from toolyard.settings.table import WITHOUT_EFFECT, Settings, knobs, secret_variables

__all__ = [
    "FILE_NAME",
    "WITHOUT_EFFECT",
    "Knob",
    "Settings",
    "knobs",
    "load",
    "secret_variables",
]
