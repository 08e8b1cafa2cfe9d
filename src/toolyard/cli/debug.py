"""toolyard debug: serve as `serve` does, and write every message to a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from toolyard.cli import serve


def add(parser: ArgumentParser) -> None:
    serve.add(parser)
    parser.set_defaults(debug=True)


def run(options: Namespace) -> int:
    return serve.run(options)
