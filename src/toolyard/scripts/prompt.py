"""A prompt as a Target: a text with {{names}}, or a program that prints text or a whole result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson

from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError
from toolyard.protocol.asking.rounds import asks, has_something_to_ask
from toolyard.protocol.call import Call, Channel, Json, JsonObject
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.limits import complaint, limit_for, run_script
from toolyard.scripts.resources.files import read_file
from toolyard.scripts.running.run import ScriptSpec
from toolyard.scripts.running.runner import Runner


class TextPrompt:
    """A template. What is not an argument of the prompt stays as it is written."""

    def __init__(
        self, path: str, metadata: JsonObject, max_bytes: int, *, trim: bool = False
    ) -> None:
        self._path = path
        self._metadata = metadata
        self._max_bytes = max_bytes
        self._trim = trim

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> JsonObject:
        require(self._metadata, arguments)
        data = await asyncio.to_thread(read_file, self._path, self._max_bytes, self._path)
        text = rendered(data.decode("utf-8", "replace"), values_of(self._metadata, arguments))
        text = text.rstrip("\n") if self._trim else text
        result = text_result(self._metadata, text)
        result |= {"text": text, "arguments": arguments}
        if isinstance(self._metadata.get("metadata"), dict):
            result["metadata"] = self._metadata["metadata"]
        return result


class ProgramPrompt:
    """A program that prints the prompt: text, messages, or a whole result."""

    def __init__(self, path: str, metadata: JsonObject, runner: Runner) -> None:
        self._path = path
        self._metadata = metadata
        self._runner = runner

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> JsonObject:
        require(self._metadata, arguments)
        runner = self._runner
        spec = ScriptSpec(
            path=self._path,
            environ=runner.environ,
            extra_env={
                "MCP_PROMPT_NAME": str(self._metadata.get("name", "")),
                "MCP_PROMPT_PATH": self._path,
            },
            payloads={
                b"MCP_PROMPT_ARGS": compact(arguments),
                b"MCP_PROMPT_METADATA": compact(self._metadata),
            },
            cwd=runner.paths.root,
            timeout=limit_for(self._metadata, call, runner.settings),
        )
        outcome = await run_script(runner, spec, call, channel, "Prompt")
        if outcome.exit_code:
            why = complaint(outcome, "Prompt failed")
            raise ProtocolError(INTERNAL_ERROR, why, {"exitCode": outcome.exit_code})
        return self._result(outcome.stdout)

    def _result(self, output: bytes) -> JsonObject:
        value = _json(output)
        if is_result(value):
            return with_description(self._metadata, value)
        if is_messages(value):
            return with_description(self._metadata, {"messages": value})
        text = output.decode("utf-8", "replace")
        trim = self._runner.settings.trim_texts
        return text_result(self._metadata, text.rstrip("\n") if trim else text)


def require(metadata: JsonObject, arguments: JsonObject) -> None:
    schema = metadata.get("inputSchema") or {}
    names = schema.get("required")
    missing = [name for name in names or () if name not in arguments]
    if missing:
        text = f"Prompt '{metadata.get('name')}' needs the argument {', '.join(missing)}"
        raise ProtocolError(INVALID_PARAMS, text, {"missing": missing})


def values_of(metadata: JsonObject, arguments: JsonObject) -> dict[str, str]:
    """What each placeholder stands for: given, else its default, else nothing."""
    properties = (metadata.get("inputSchema") or {}).get("properties") or {}
    values = {
        name: about.get("default", "") if isinstance(about, dict) else ""
        for name, about in properties.items()
    }
    return {name: _as_text(value) for name, value in {**values, **arguments}.items()}


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else compact(value).decode()


def rendered(template: str, values: Mapping[str, str]) -> str:
    """Each {{name}} replaced once: what an argument contains is never looked at again."""
    head, *parts = template.split("{{")
    pieces = [head]
    for part in parts:
        name, closing, after = part.partition("}}")
        value = values.get(name.strip()) if closing else None
        pieces += ["{{", part] if value is None else [value, after]
    return "".join(pieces)


def text_result(metadata: JsonObject, text: str) -> JsonObject:
    message = {"role": metadata.get("role", "user"), "content": {"type": "text", "text": text}}
    return with_description(metadata, {"messages": [message]})


def with_description(metadata: JsonObject, result: JsonObject) -> JsonObject:
    description = metadata.get("description")
    if not description or asks(result):
        return result
    return {"description": description, **result}


def is_result(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    if asks(value):
        return has_something_to_ask(value)
    return is_messages(value.get("messages"))


def is_messages(value: Json) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and "role" in item and "content" in item for item in value)
    )


def _json(output: bytes) -> Json:
    try:
        return orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
