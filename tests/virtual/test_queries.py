"""The JSONPath library below us: its internals are as our overrides expect, and it is pinned."""

from __future__ import annotations

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import jsonpath
import pytest
from packaging.requirements import Requirement

from toolyard.virtual.query import queries

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
OVERRIDING = [
    kind
    for kind in vars(queries).values()
    if inspect.isclass(kind)
    and kind.__module__ == queries.__name__
    and any(base.__module__.startswith("jsonpath") for base in kind.__mro__)
]
# What our classes have beside the library's: it never calls these.
OWN = {"visit", "__init__"}


def test_only_the_minor_release_that_our_overrides_were_written_for_is_allowed() -> None:
    texts = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    (pin,) = [pin for pin in map(Requirement, texts) if pin.name == "python-jsonpath"]
    assert str(pin.specifier) == "<2.3,>=2.2.2", "read queries.py before you widen the pin"
    assert version("python-jsonpath") in pin.specifier


def test_there_are_overrides_to_look_at() -> None:
    assert len(OVERRIDING) == 6


@pytest.mark.parametrize("kind", OVERRIDING, ids=lambda kind: kind.__name__)
def test_what_we_override_is_still_in_the_library_with_the_same_parameters(kind: type) -> None:
    library = next(base for base in kind.__mro__ if base.__module__.startswith("jsonpath"))
    for name, ours in vars(kind).items():
        if name in OWN or not inspect.isfunction(ours):
            continue
        theirs = getattr(library, name, None)
        if name == "__call__":  # of a filter function, whose parameters are its own
            assert callable(theirs)
            continue
        assert theirs is not None, f"{library.__name__} no longer has {name}"
        assert list(inspect.signature(ours).parameters) == list(
            inspect.signature(theirs).parameters
        )


def test_the_library_still_takes_its_parser_from_the_environment() -> None:
    assert issubclass(jsonpath.JSONPathEnvironment.parser_class, queries._QueryParser.__bases__)
    assert isinstance(queries._ENVIRONMENT.parser, queries._QueryParser)
