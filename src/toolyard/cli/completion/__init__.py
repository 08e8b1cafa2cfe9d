"""toolyard completion: what a shell needs to complete our command lines.

The scripts hold no words. They ask `toolyard completion words WORD...`, which knows every command
and flag because it has the same parsers, so that a script never grows stale.
"""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from importlib.resources import files

from toolyard.cli.completion.words import candidates

SHELLS = ("bash", "zsh", "fish")


def add(parser: ArgumentParser) -> None:
    parser.usage = f"%(prog)s {'|'.join(SHELLS)}"
    parser.epilog = (
        'bash: put eval "$(%(prog)s bash)" into ~/.bashrc. '
        "zsh: the same with zsh in ~/.zshrc, after compinit. "
        "fish: %(prog)s fish > ~/.config/fish/completions/toolyard.fish"
    )
    parser.add_argument("shell", choices=(*SHELLS, "words"), help="the shell to print a script for")
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(options: Namespace) -> int:
    if options.shell == "words":
        print("\n".join(candidates(options.words)))
    else:
        print(files(__package__).joinpath(f"toolyard.{options.shell}").read_text("utf-8"), end="")
    return 0
