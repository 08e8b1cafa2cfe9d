"""What one revision allows on the wire, read out of its published JSON Schema alone.

Which side may send a method, and what must come back for it, are in the schema too: the unions
`ClientRequest`, `ServerRequest` and their like, and the names of the definitions.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import jsonschema_rs

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
Side = Literal["Client", "Server"]

SCHEMAS = Path(__file__).resolve().parents[3] / "shared" / "data" / "mcp-schema"
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
MODERN = REVISIONS[-1]


def absent() -> str | None:
    """Why nothing can be checked; None where the schemas are there."""
    missing = [name for name in REVISIONS if not (SCHEMAS / name / "schema.json").is_file()]
    return f"the schemas of {', '.join(missing)} are not in {SCHEMAS}" if missing else None


class Judge:
    """Says of each message whether this revision has it, in this direction and form."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        document = json.loads((SCHEMAS / revision / "schema.json").read_text(encoding="utf-8"))
        self._key = "$defs" if "$defs" in document else "definitions"
        self._definitions: JsonObject = document[self._key]
        self._checkers: dict[str, Any] = {}
        self._methods = {
            definition["properties"]["method"]["const"]: name
            for name, definition in self._definitions.items()
            if "const" in definition.get("properties", {}).get("method", {})
            and not name.startswith(("Client", "Server"))
        }

    def has(self, method: str, sender: Side) -> bool:
        name = self._methods.get(method)
        return name is not None and name in self._may_send(sender)

    def problems(self, message: Json, sender: Side, answers: str | None) -> list[str]:
        """What is wrong with a message; `answers` is the method that a response is about."""
        if isinstance(message, list):
            return self._of_batch(message, sender, answers)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return [f"not JSON-RPC 2.0: {shown(message)}"]
        if "method" in message:
            return self._of_method(message, sender)
        if ("result" in message) == ("error" in message):
            return [f"neither result nor error: {shown(message)}"]
        if "error" in message:
            return self._of_error(message)
        return self._of_result(message, sender, answers)

    def of_question(self, question: Json) -> list[str]:
        """An entry of `inputRequests`."""
        name = self._methods.get(question.get("method", ""))
        if name not in ("ElicitRequest", "CreateMessageRequest", "ListRootsRequest"):
            return [f"not a question: {shown(question)}"]
        return self.against(name, question)

    def of_answer(self, method: str, result: Json) -> list[str]:
        return self.against(self._result_of(method), result)

    def against(self, name: str, value: Json) -> list[str]:
        if name not in self._checkers:
            root = {"$ref": f"#/{self._key}/{name}", self._key: self._definitions}
            draft = (
                jsonschema_rs.Draft202012Validator
                if self._key == "$defs"
                else jsonschema_rs.Draft7Validator
            )
            self._checkers[name] = draft(root)
        return [
            f"{self.revision} {name}/{'/'.join(map(str, error.instance_path))}: "
            f"{error.message[:160]}"
            for error in self._checkers[name].iter_errors(value)
        ]

    def _of_batch(self, batch: list[Json], sender: Side, answers: str | None) -> list[str]:
        if self.revision != "2025-03-26":
            return [f"{self.revision} has no batches: {shown(batch)}"]
        return [found for each in batch for found in self.problems(each, sender, answers)]

    def _of_method(self, message: JsonObject, sender: Side) -> list[str]:
        if not self.has(message["method"], sender):
            return [f"in {self.revision} a {sender.lower()} has no {message['method']}"]
        name = self._methods[message["method"]]
        if name.endswith("Request") != ("id" in message):
            return [f"{message['method']} with or without an id: {shown(message)}"]
        whole = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
        return self.against(whole, message) + self.against(name, message)

    def _of_error(self, message: JsonObject) -> list[str]:
        older = "JSONRPCError" in self._definitions
        return self.against("JSONRPCError" if older else "JSONRPCErrorResponse", message)

    def _of_result(self, message: JsonObject, sender: Side, answers: str | None) -> list[str]:
        if answers is None:
            return [f"an answer to nothing: {shown(message)}"]
        older = "JSONRPCResultResponse" not in self._definitions
        found = self.against("JSONRPCResponse" if older else "JSONRPCResultResponse", message)
        if found:
            return found
        result = message["result"]
        if self.revision == MODERN and result.get("resultType") == "input_required":
            return self._of_input_required(result, answers)
        if self.revision == MODERN and result.get("resultType") != "complete":
            return [f"resultType {result.get('resultType')!r} was not negotiated"]
        return self.against(self._result_of(answers), result)

    def _of_input_required(self, result: JsonObject, answers: str) -> list[str]:
        if answers not in ("tools/call", "prompts/get", "resources/read"):
            return [f"{answers} may not answer input_required"]
        if not result.get("inputRequests") and "requestState" not in result:
            return ["input_required with neither inputRequests nor requestState"]
        asked = result.get("inputRequests", {}).values()
        found = [problem for question in asked for problem in self.of_question(question)]
        return found + self.against("InputRequiredResult", result)

    def _result_of(self, method: str) -> str:
        name = self._methods[method].removesuffix("Request") + "Result"
        return name if name in self._definitions else "EmptyResult"

    def _may_send(self, sender: Side) -> set[str]:
        names: set[str] = set()
        for kind in ("Request", "Notification"):
            union = self._definitions.get(sender + kind, {})
            names |= {each["$ref"].rpartition("/")[2] for each in union.get("anyOf", [])}
            if "const" in union.get("properties", {}).get("method", {}):
                names.add(self._methods[union["properties"]["method"]["const"]])
        return names


@cache
def judge(revision: str) -> Judge:
    return Judge(revision)


def shown(value: Json) -> str:
    return json.dumps(value)[:200]
