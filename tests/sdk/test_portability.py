"""What holds for the SDK as a whole: no processes, bash 3.2, shellcheck, nothing left behind."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sdk.sandbox import BASH, SDK, Sandbox

SHELL_FILES = sorted([*SDK.glob("*.sh"), *SDK.glob("parts/*.sh")])
SHELLCHECK = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which(
    "shellcheck"
)

COMMON = """
mcp_json_escape 'a"b'; mcp_json_obj a 1; mcp_json_arr x y; mcp_is_valid_json '[1]'
mcp_byte_length é; mcp_json_truncate '[1,2,3]' 5
mcp_args_raw; mcp_args_get .name; mcp_args_get '.x // "y"'; mcp_args_get '.deep.list[1]'
mcp_args_require .name; mcp_args_bool .flag; mcp_args_int .n --min 1
mcp_meta_raw; mcp_meta_get .a; mcp_require_path .path; mcp_is_cancelled || :
mcp_progress 1 x 2; mcp_log info l '{"a":1}'; mcp_log_debug l x; mcp_log_info l x; mcp_log_warn l x
mcp_log_error l x; mcp_debug x
mcp_emit_text x; mcp_emit_json '{"a":1}'; mcp_result_success '{"a":1}'; mcp_result_error '{"a":1}'
mcp_error t m; mcp_extract_cli_error '{"error":"x"}' '' 1
mcp_roots_list; mcp_roots_count; mcp_roots_contains .; mcp_config_load --defaults '{"a":1}'
mcp_config_get .a; mcp_elicit_confirm x; mcp_result_text_with_resource x --path file.txt
mcp_client_supports_ui || :; mcp_result_with_ui ui://a/b x; mcp_ui_form t '[]'; mcp_ui_table t '[]'
mcp_tool_meta_with_ui ui://a/b; mcp_with_retry 1 0 -- true
"""
ARGUMENTS = {
    "name": "Jörg",
    "flag": True,
    "n": 3,
    "deep": {"list": [1, "\u20ac"]},
    "path": "file.txt",
}


def test_the_common_functions_start_no_process(sandbox: Sandbox, tmp_path: Path) -> None:
    (sandbox.project / "file.txt").write_text("x")
    environment = {"MCP_ROOTS_PATHS": str(sandbox.project), "MCP_ROOTS_COUNT": "1"}
    ran = sandbox.run(
        COMMON, ARGUMENTS, PATH=str(tmp_path), MCP_ELICIT_SUPPORTED="0", **environment
    )
    assert (ran.err, ran.code) == ("", 0)
    assert ran.out.splitlines()[-1].startswith('{"ui"')


def test_nothing_but_our_own_names_is_left_in_the_script(sandbox: Sandbox) -> None:
    (sandbox.project / "file.txt").write_text("x")
    script = f"""set -euo pipefail
    before=$(compgen -v); options=$-$(shopt)
    source "$MCP_SDK/tool-sdk.sh"
    {{ {COMMON} }} >/dev/null
    [ "$options" = "$-$(shopt)" ]
    comm -13 <(sort <<<"$before") <(compgen -v | sort)"""
    ran = sandbox.run_bare(
        script,
        MCP_TOOL_ARGS_JSON=json.dumps(ARGUMENTS),
        MCP_ROOTS_PATHS=str(sandbox.project),
        MCP_ROOTS_COUNT="1",
        MCP_ELICIT_SUPPORTED="0",
    )
    ours = re.compile(r"__mcp_\w+|MCP_CONFIG_JSON")
    bash_own = {"before", "options", "PIPESTATUS", "_", "BASH_REMATCH", "FUNCNAME"}
    left = {name for name in ran.out.splitlines() if not ours.fullmatch(name)}
    assert (left - bash_own, ran.err, ran.code) == (set(), "", 0)


@pytest.mark.parametrize("path", SHELL_FILES, ids=lambda path: path.name)
def test_every_part_is_short_and_says_what_it_is(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0] == "# shellcheck shell=bash"
    assert lines[1].startswith("# ") and lines[1].endswith((".", "`."))
    assert len(lines) <= 400


# What bash 3.2, the one of macOS, does not have or does otherwise.
NOT_IN_BASH_3 = {
    r"\b(declare|local|typeset) -[a-zA-Z]*[AngluI]": "associative arrays, name references, case",
    r"\$\{\w+(\[[^]]*\])?[,^]": "case conversion",
    r"\b(mapfile|readarray|coproc)\b": "mapfile, coproc",
    r"\|&|&>>": "|& and &>>",
    r";;?&": "falling through in case",
    r"\$\{[^}]*@[QEPAaUuLK]\}": "transformations",
    r"printf -v \"?\w+\[": "printf -v into an array",
    r"%\([^)]*\)T": "printf's dates",
    r"\$(EPOCH|BASHPID|SRANDOM)": "newer variables",
    r"\bwait -n\b": "wait -n",
    r"exec \{\w+\}|\{\w+\}[<>]": "named descriptors",
    r"\$\{\w+: -\d|\[-\d+\]": "negative lengths and indexes",
    r"\btest -v\b|\[\[? -v ": "-v",
    r"\$'[^']*\\u": "\\u in $'...'",
    r"\bshopt -s (globstar|lastpipe|inherit_errexit)": "newer options",
    r"\"\$\{\w+//[^}\"]*\"": "quotes inside a quoted replacement",
}


@pytest.mark.parametrize("path", SHELL_FILES, ids=lambda path: path.name)
def test_nothing_needs_a_newer_bash_than_3(path: Path) -> None:
    code = re.sub(r"^\s*#.*$", "", path.read_text(), flags=re.MULTILINE)
    found = {why for pattern, why in NOT_IN_BASH_3.items() if re.search(pattern, code)}
    assert found == set()


def test_the_search_for_newer_bash_finds_it() -> None:
    newer = 'local -A x; ${a,,}; mapfile -t b; printf -v c[1] x; printf \'%(%s)T\'; "${a//x/"y"}"'
    found = [pattern for pattern in NOT_IN_BASH_3 if re.search(pattern, newer)]
    assert len(found) == 6


@pytest.mark.skipif(SHELLCHECK is None, reason="shellcheck is not installed")
def test_shellcheck_has_nothing_to_say() -> None:
    command = [str(SHELLCHECK), "-x", "-P", "SCRIPTDIR", *map(str, SHELL_FILES)]
    done = subprocess.run(command, cwd=SDK, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.returncode) == ("", 0)


HELLO = """#!/usr/bin/env bash
set -euo pipefail
source "${MCP_SDK:?}/tool-sdk.sh"
name="$(mcp_args_get '.name // "World"')"
mcp_result_success "$(mcp_json_obj message "Hello, ${name}!")"
"""


@pytest.mark.parametrize(("arguments", "name"), [("{}", "World"), ('{"name":"x"}', "x")])
def test_the_scaffolded_tool_greets(sandbox: Sandbox, arguments: str, name: str) -> None:
    ran = sandbox.run_bare(HELLO, MCP_TOOL_ARGS_JSON=arguments)
    assert ran.json["structuredContent"] == {
        "success": True,
        "result": {"message": f"Hello, {name}!"},
    }


MAKER = Path(__file__).resolve().parents[3] / "shared" / "bench" / "make_project.py"


@pytest.mark.skipif(not MAKER.exists(), reason="../shared is not there")
def test_the_benchmark_project_runs(sandbox: Sandbox) -> None:
    subprocess.run([sys.executable, str(MAKER), "2", str(sandbox.project)], check=True, timeout=60)
    tool = sandbox.project / "tools" / "hello-sdk" / "tool.sh"
    ran = sandbox.run_bare(f"exec {BASH} {tool}", MCP_TOOL_ARGS_JSON='{"name":"Ada"}')
    assert ran.json["structuredContent"]["result"] == {"message": "Hello, Ada!"}


@pytest.mark.parametrize(
    "way", ['cd "$MCP_SDK" && . ./tool-sdk.sh', 'cd "$MCP_SDK/.." && . sdk/tool-sdk.sh']
)
def test_the_sdk_finds_its_parts_from_wherever_it_is_sourced(sandbox: Sandbox, way: str) -> None:
    ran = sandbox.run_bare(f"set -eu; {way}; cd /; mcp_roots_count")
    assert (ran.out, ran.err) == ("0\n", "")


def test_sourcing_twice_does_no_harm(sandbox: Sandbox) -> None:
    ran = sandbox.run('. "$MCP_SDK/tool-sdk.sh"; . "$MCP_SDK/ui-sdk.sh"; mcp_json_arr a')
    assert (ran.out, ran.err) == ('["a"]\n', "")


@pytest.mark.parametrize(
    "options", ["shopt -s failglob nullglob extglob", "set -f", "set +e", "IFS=$'\\n\\t'"]
)
def test_the_shell_options_of_a_script_do_not_matter(sandbox: Sandbox, options: str) -> None:
    script = """mcp_json_arr 'é [a]*' $'\\001'; mcp_args_get .name; mcp_args_get '.deep.list[1]'"""
    ran = sandbox.run(f"{options}\n{script}", ARGUMENTS)
    assert (ran.out, ran.err) == ('["é [a]*","\\u0001"]\nJörg\n€\n', "")
