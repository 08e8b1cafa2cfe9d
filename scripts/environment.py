"""Write docs/environment.md from the table of settings."""

from pathlib import Path

from toolyard.settings import WITHOUT_EFFECT, Knob, knobs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "environment.md"
HEAD = """# Settings

Each row can be set by a flag, by an environment variable or in `toolyard.json` (in the
project, or named with `--config FILE`); flags win over the environment, the environment over
the file. Every variable is also read with the prefix `TOOLYARD_` in place of `MCPBASH_` or
`MCP_`, and that spelling wins. This page is generated from the table in
`src/toolyard/settings/table.py` by `scripts/environment.py`.

| variable | in `toolyard.json` | value | default | meaning |
|---|---|---|---|---|
"""
TAIL = """
## Without effect

These are accepted, because projects written for mcp-bash may set them, and do nothing here:

"""


def page() -> str:
    rows = "".join(map(row, knobs()))
    ignored = "".join(
        f"* {', '.join(f'`MCPBASH_{name}`' for name in names.split())}: {reason}\n"
        for reason, names in WITHOUT_EFFECT.items()
    )
    return HEAD + rows + TAIL + ignored


def row(knob: Knob[object]) -> str:
    cells = (
        f"`{knob.variable}`",
        f"`{knob.file_key}`",
        knob.kind.shown,
        shown_default(knob),
        knob.meaning,
    )
    return "| " + " | ".join(cells) + " |\n"


def shown_default(knob: Knob[object]) -> str:
    if knob.follows:
        return f"as `{knob.follows.upper()}`"
    if knob.default in ("", ()):
        return ""
    return f"`{str(knob.default).lower() if isinstance(knob.default, bool) else knob.default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
