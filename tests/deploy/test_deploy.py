"""What is in deploy/ is accepted by the programs that read it, and names metrics that exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.yard import ECHO, Yard
from tests.observation.scraped import scrape
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import ROOT, serving

DEPLOY = ROOT / "deploy"
DASHBOARD = DEPLOY / "grafana" / "dashboard.json"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
CHART = DEPLOY / "helm" / "toolyard"
METRIC = re.compile(r"\b((?:mcp|toolyard|process)_\w+)")
LABELS = re.compile(r"\{[^}]*\}|by \([^)]*\)|label_values\(.*")


# Two of them are among the packages for development.
PATHS = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not shutil.which(program, path=PATHS), reason=f"{program} is not installed"
    )


def ran(*words: str | Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": PATHS}
    command = [str(word) for word in words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)


def run(*words: str | Path) -> str:
    done = ran(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def queries() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"].replace("$__rate_interval", "5m").replace("$job", ".*")


@needs("promtool")
def test_promtool_accepts_the_alerts_and_their_tests_pass() -> None:
    run("promtool", "check", "rules", ALERTS)
    run("promtool", "test", "rules", ALERTS.with_name("alerts.test.yml"))


@needs("promtool")
def test_promtool_accepts_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{n}", "expr": query} for n, query in enumerate(queries())]
    assert len(rules) > 20
    file = tmp_path / "rules.json"  # YAML too
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    run("promtool", "check", "rules", "--lint=none", file)


async def test_every_metric_that_is_named_exists(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.registry(servers=[yard.upstream("u", ECHO, expose="all")])
    async with serving(yard.file, "--no-page") as server:
        async with over_http(server.url, MODERN) as client:
            await client.call("echo", {})
        known = set(re.findall(r"^(\w+)[ {]", (await scrape(server)).text, re.MULTILINE))
    documented = (ROOT / "docs" / "operating.md").read_text()
    texts = [
        *queries(),
        *re.findall(r"expr: \|?(.*?)\n\s+(?:for|labels):", ALERTS.read_text(), re.S),
    ]
    named = {name for text in texts for name in METRIC.findall(LABELS.sub("", text))}
    assert len(named) > 15 and named <= known, named - known
    assert {name for name in named if name.startswith("toolyard")} <= set(
        METRIC.findall(documented)
    )


@needs("systemd-analyze")
def test_systemd_accepts_the_unit() -> None:
    run("systemd-analyze", "verify", DEPLOY / "systemd" / "toolyard.service")


@needs("helm")
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"existingSecret": "t", "replicas": 3, "store": {"url": "redis://r:6379"}},
        {"ingress": {"enabled": True, "host": "tools.example.com"}, "env": {"A": "b"}},
        {"state": {"persistent": True}, "serviceMonitor": {"enabled": True}},
    ],
)
def test_helm_accepts_the_chart(tmp_path: Path, values: dict[str, object]) -> None:
    file = tmp_path / "values.json"
    file.write_text(json.dumps(values))
    run("helm", "lint", "--strict", CHART, "-f", file)
    told = run("helm", "template", "yard", CHART, "-f", file)
    assert "readOnlyRootFilesystem: true" in told and "runAsNonRoot: true" in told
    assert "path: /readyz" in told


@needs("helm")
def test_the_chart_refuses_replicas_that_share_nothing() -> None:
    done = ran("helm", "template", "yard", CHART, "--set", "replicas=2")
    assert done.returncode != 0 and "store.url" in done.stderr


@needs("hadolint")
def test_hadolint_accepts_the_container_file() -> None:
    run("hadolint", DEPLOY / "container" / "Containerfile")


def test_the_image_runs_as_nobody_and_writes_only_to_volumes() -> None:
    text = (DEPLOY / "container" / "Containerfile").read_text()
    assert "USER 10001:10001" in text and 'VOLUME ["/tmp", "/state"]' in text
