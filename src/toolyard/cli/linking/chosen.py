"""The clients that a command works on, their files, and the server that they are to use."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.options import DEFAULT_NAME, add_project, choose, identity_of
from toolyard.cli.project.start import command_line
from toolyard.clients.entries import Local, Remote, Server, entry_of
from toolyard.clients.known import KnownClient
from toolyard.clients.linking import ClientFile
from toolyard.clients.machine import SYSTEMS, Machine, this_machine
from toolyard.clients.table import CLIENTS, client_named
from toolyard.errors import ConfigError


def add_clients(parser: ArgumentParser) -> None:
    names = ", ".join(client.id for client in CLIENTS.values() if client.writes)
    parser.add_argument("client", nargs="*", metavar="CLIENT", help=f"of: {names}")
    parser.add_argument("--all", action="store_true", help="every client that is on this machine")
    parser.add_argument(
        "--project", action="store_true", help="the files of the folder you are in, not the user's"
    )
    parser.add_argument("--file", metavar="PATH", help="this file of the (one) client")
    parser.add_argument("--name", help="of the server in the client (default: the project's)")
    add_machine(parser)


def add_machine(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--home", metavar="DIR", help="look for clients below this home folder, not your own"
    )
    parser.add_argument("--system", choices=SYSTEMS, help="whose layout that folder has")


def add_server(parser: ArgumentParser) -> None:
    parser.add_argument("--http", metavar="URL", help="of a running server (default: start one)")
    parser.add_argument(
        "--token-env",
        default="",
        metavar="NAME",
        help="the server wants a token, which the client finds in this variable",
    )
    parser.add_argument(
        "--env-file", metavar="FILE", help="what the server that is started takes variables from"
    )
    add_project(parser)


def machine_of(options: Namespace) -> Machine:
    return this_machine(options.home, options.system)


def files_for(options: Namespace, machine: Machine) -> list[ClientFile]:
    """The file of each client that is meant. Raises ConfigError."""
    names = [client for client in CLIENTS.values() if machine.has(client)] if options.all else []
    clients = [*names, *(client_named(name) for name in options.client)]
    if not clients:
        raise ConfigError.at("CLIENT", "which one? name some, or say --all; --list shows them")
    if options.file is not None and len(clients) != 1:
        raise ConfigError.at("--file", "goes with exactly one client")
    unique = {client.id: client for client in clients if client.writes or not options.all}
    return [file_for(client, options, machine) for client in unique.values()]


def file_for(client: KnownClient, options: Namespace, machine: Machine) -> ClientFile:
    if options.file is not None:
        return ClientFile(client, os.path.abspath(options.file))
    if options.project:
        paths = [os.path.abspath(path) for path in client.project]
        present = [path for path in paths if os.path.lexists(path)]
        if not paths:
            raise ConfigError.at(client.id, f"{client.title} has no file for a project")
        return ClientFile(client, (present or paths)[0], "project")
    path = machine.file_of(client)
    if path is None:
        other = "--project or --file PATH" if client.project else "import: it is not written"
        raise ConfigError.at(client.id, f"{client.title} has no file of the user here; use {other}")
    return ClientFile(client, path)


def local_server(options: Namespace) -> tuple[str, Local] | None:
    """The project or the registry files that are meant, as a server to start; and its name."""
    options.path, options.registry = options.registry, []
    choice = choose(options)
    paths = [*choice.registries, *([choice.project.root] if choice.project else [])]
    if not paths:
        return None
    command, *args = command_line(options.program)
    words = (*args, "serve", *(os.path.abspath(path) for path in paths))
    if options.env_file is not None:
        words = (*words, "--env-file", os.path.abspath(options.env_file))
    name = str(identity_of(choice).info["name"]) if choice.project else DEFAULT_NAME
    return name, Local(command, words)


def server_for(
    client: KnownClient, name: str, remote: Remote | None, local: Local | None
) -> tuple[Server, str]:
    """What this client can use, and a word about it. Raises ValueError."""
    if remote is None:
        if local is None:
            raise ValueError(
                "there is nothing to serve: go to a project, or name one with --project-root, a "
                "registry with --registry, or a running server with --http"
            )
        return local, ""
    try:
        entry_of(client, name, remote)
        return remote, ""
    except ValueError as error:
        if local is None:
            raise
        return local, str(error)
