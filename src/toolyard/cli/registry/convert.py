"""toolyard registry convert: a registry file in another format, and what is lost on the way."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from toolyard.cli.output import pretty
from toolyard.errors import ConfigError
from toolyard.sources.registry.format.export import FORMATS, export
from toolyard.sources.registry.format.load import load_registry


def add(parser: ArgumentParser) -> None:
    parser.epilog = "The result goes to stdout, the list of what could not be expressed to stderr."
    parser.add_argument("file", help="a registry in any supported format")
    parser.add_argument("--to", choices=tuple(FORMATS), default="native", help="(default: native)")
    parser.add_argument("--out", metavar="FILE", help="write to FILE instead of stdout")


def run(options: Namespace) -> int:
    registry = load_registry(options.file, os.environ)
    document, losses = export(
        registry.raw if options.to == "native" else registry.sound, options.to
    )
    _write(pretty(document) + "\n", options.out)
    for place in (*(f"{place}: not expressed here" for place in registry.lost), *losses):
        print(f"{options.file}#{place}", file=sys.stderr)
    for problem in registry.problems:
        print(problem, file=sys.stderr)
    return 0


def _write(text: str, path: str | None) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
