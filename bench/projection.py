"""How long the projection of a search result takes, against python-jsonpath in the same run.

python -m bench.projection
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson
from jsonpath import JSONPathEnvironment

from toolyard.files.exact import loads
from toolyard.virtual.codec import dumps
from toolyard.virtual.output.projection import compile_projection

PATHS = {
    "name": "$.full_name",
    "stars": "$.stargazers_count",
    "owner": "$.owner.login",
    "license": "$.license.name",
    "url": "$.html_url",
}
SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "integer", "source_field": "$.total_count"},
        "repos": {
            "type": "array",
            "source_field": "$.items[*]",
            "items": {
                "type": "object",
                "properties": {name: {"source_field": path} for name, path in PATHS.items()},
            },
        },
    },
}


def result_text() -> str:
    """100 items of the size that a code host's search gives: about 150 kB."""
    return dumps({"total_count": 100, "items": [item(number) for number in range(100)]})


def item(number: int) -> dict[str, Any]:
    more = {
        f"{kind}_url": f"https://api.example.com/{number}/{kind}" for kind in "abcdefghijklmnop"
    }
    return {
        "id": number * 7919,
        "full_name": f"owner-{number}/repository-{number}",
        "stargazers_count": number * 31,
        "owner": {"login": f"owner-{number}", "id": number, "site_admin": False},
        "license": {"key": "mit", "name": "MIT License"},
        "html_url": f"https://example.com/owner-{number}/repository-{number}",
        "description": "A sentence of the usual length about what this repository is for. " * 9,
        "topics": ["alpha", "beta", "gamma"],
        **more,
    }


def best(run: Callable[[], object], rounds: int = 200) -> float:
    """Microseconds of the fastest round: the least disturbed one."""
    fastest = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        fastest = min(fastest, time.perf_counter() - began)
    return fastest * 1e6


def main() -> None:
    text = result_text()
    value = orjson.loads(text)
    project = compile_projection(SCHEMA).apply
    peer = peer_projection()
    assert project(value) == peer(value)
    rows = [
        ("decode, project, encode", best(lambda: dumps(project(loads(text))))),
        ("  decode (orjson alone)", best(lambda: orjson.loads(text))),
        ("  decode (integers exact)", best(lambda: loads(text))),
        ("  project", best(lambda: project(value))),
        ("  encode", best(lambda: dumps(project(value))) - best(lambda: project(value))),
        ("project, python-jsonpath", best(lambda: peer(value), rounds=20)),
    ]
    print(f"{len(text):,} bytes, 100 items of 5 fields, microseconds")
    for name, micros in rows:
        print(f"{name:<28}{micros:>10.0f}")


def peer_projection() -> Callable[[Any], Any]:
    environment = JSONPathEnvironment(strict=True)
    total: Any = environment.compile("$.total_count")
    items: Any = environment.compile("$.items[*]")
    fields: dict[str, Any] = {name: environment.compile(path) for name, path in PATHS.items()}

    def project(value: Any) -> Any:
        repos = [
            {name: path.findall(found)[0] for name, path in fields.items()}
            for found in items.findall(value)
        ]
        return {"total": total.findall(value)[0], "repos": repos}

    return project


if __name__ == "__main__":
    main()
