"""The whole error tree. Each branch says who must act.

    ToolyardError
    ├── ProtocolError      the client: a JSON-RPC error with code, message and data
    ├── ToolError          the model: an `isError` result with this text
    │   ├── Unaskable      the same, and the client was not asked
    │   └── UpstreamError  the same, and it names the server that failed
    │       └── LoginRequired  the caller: it has to log in at that server first
    └── ConfigError        the operator: file, JSON pointer and remedy; exit code 2

Anything else that is raised is a bug: caught once, logged with its traceback,
answered -32603 without detail.
"""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
from collections.abc import Iterable
from typing import Any, NamedTuple

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32000
RESOURCE_NOT_FOUND = -32002
SHUTTING_DOWN = -32003
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_REVISION = -32022
RATE_LIMITED = -32029
URL_REQUIRED = -32042
MOST_SHOWN = 500


class ToolyardError(Exception):
    """Anything we raise on purpose."""


class ProtocolError(ToolyardError):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ToolError(ToolyardError):
    """The call was understood but failed: the model should read why."""

    def __init__(
        self, message: str, *, structured: Any = None, meta: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.structured = structured
        self.meta = meta


class Unaskable(ToolError):
    """A question that the client, or its revision, has no way to answer."""


class UpstreamError(ToolError):
    def __init__(self, server: str, message: str) -> None:
        super().__init__(f"{server}: {message}")
        self.server = server


class LoginRequired(UpstreamError):
    """Nothing was sent: the caller has no credentials there, or they do not suffice."""

    def __init__(
        self, server: str, url: str, why: str = "wants a login", scopes: tuple[str, ...] = ()
    ) -> None:
        more = f" --scope {' '.join(scopes)!r}" if scopes else ""
        super().__init__(
            server,
            f"{why} at {url}. To connect: run `toolyard auth login {server} REGISTRY{more}` "
            "(REGISTRY is the file that names it), or log in from the page; then call again.",
        )
        self.url = url
        self.scopes = scopes


class Problem(NamedTuple):
    """One thing wrong with a file, and where."""

    file: str
    pointer: str
    message: str
    line: int | None = None  # where the file has several

    def __str__(self) -> str:
        place = f"{self.file}#{self.pointer}" if self.pointer else self.file
        line = f" (line {self.line})" if self.line is not None and self.pointer else ""
        return f"{place}: {self.message}{line}"


class ConfigError(ToolyardError):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems

    @classmethod
    def at(cls, file: str, message: str, pointer: str = "") -> "ConfigError":
        return cls([Problem(file, pointer, message)])


def did_you_mean(name: str, known: Iterable[str], quote: str = '"') -> str:
    """For the end of a message: the known name that was probably meant."""
    import difflib  # noqa: PLC0415 - only for an error message

    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {quote}{near[0]}{quote}?)" if near else ""


def shown(text: str) -> str:
    """Text that somebody sent, cut to what an error message may repeat."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text)} characters)"
