"""toolyard schema: the JSON Schema of a configuration file, for editors."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from toolyard.cli.output import print_json, table
from toolyard.configuration.objects import PUBLISHED, published


def add(parser: ArgumentParser) -> None:
    parser.epilog = "Without a NAME: which there are. A file may name its schema as `$schema`."
    parser.add_argument("name", nargs="?", choices=sorted(PUBLISHED), metavar="NAME")


def run(options: Namespace) -> int:
    if options.name is not None:
        print_json(published(options.name))
        return 0
    for line in table((name, entry.describes) for name, entry in PUBLISHED.items()):
        print(line)
    return 0
