"""The project's own resource providers: `providers/NAME.sh URI`, an exit code, the content."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.contract.environ import ISOLATED, Environ, VariableFilter, encoded, kept
from toolyard.scripts.limits import complaint, limit_for, run_script
from toolyard.scripts.resources.contents import Body, not_found, unreadable
from toolyard.scripts.running.run import Finished, ScriptSpec
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import RunnerSettings

_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_EXTRA: Mapping[str, tuple[str, ...]] = {
    "git": ("SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS"),
    "https": ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"),
}


class ScriptProvider:
    """One provider script. `told` is what every provider is told: folders and roots."""

    def __init__(
        self,
        name: str,
        path: str,
        metadata: JsonObject,
        runner: Runner,
        told: Mapping[str, str],
    ) -> None:
        self._name = name
        self._path = path
        self._metadata = metadata
        self._runner = runner
        self._told = told

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        if "\0" in uri:
            raise ProtocolError(INVALID_PARAMS, "Not a URI", {"uri": uri})
        settings = self._runner.settings
        spec = ScriptSpec(
            path=self._path,
            argv=(uri,),
            environ={**provider_environ(self._name, settings), **encoded(self._told)},
            cwd=self._runner.paths.root,
            timeout=limit_for(self._metadata, call, settings),
            max_output=settings.max_resource_bytes,
        )
        finished = await run_script(self._runner, spec, call, None, "Resource provider")
        if finished.exit_code:
            raise _meaning(finished, uri)
        return Body(finished.stdout)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


def provider_environ(name: str, settings: RunnerSettings) -> Environ:
    """Little of ours unless the operator says otherwise: no tool's variables, no secrets."""
    also = {
        variable: os.environ[variable]
        for variable in (*_PROXIES, *_EXTRA.get(name, ()))
        if variable in os.environ
    }
    return {**kept(os.environ, provider_policy(settings), settings.withheld), **encoded(also)}


def provider_policy(settings: RunnerSettings) -> VariableFilter:
    if settings.provider_env_mode == "isolate":
        return ISOLATED
    if settings.provider_env_mode == "allowlist":
        return VariableFilter(
            ISOLATED.names | set(settings.provider_env_allowlist), ISOLATED.prefixes
        )
    if not settings.provider_env_inherit_allowed:
        raise ProtocolError(
            INVALID_PARAMS,
            "MCPBASH_PROVIDER_ENV_MODE=inherit needs MCPBASH_PROVIDER_ENV_INHERIT_ALLOW=true",
        )
    return VariableFilter(frozenset(), (), everything=True)


_OUTSIDE, _MISSING, _BAD_URI = 2, 3, 4
_MEANINGS: Mapping[int, Callable[[str, str], ProtocolError]] = {
    _OUTSIDE: lambda uri, said: unreadable(uri, "Resource outside allowed roots"),
    _MISSING: lambda uri, said: not_found(uri),
    _BAD_URI: lambda uri, said: ProtocolError(INVALID_PARAMS, said, {"uri": uri}),
}


def _meaning(finished: Finished, uri: str) -> ProtocolError:
    said = complaint(finished, "Resource provider failed")
    return _MEANINGS.get(finished.exit_code, unreadable)(uri, said)


class Echo:
    """`echo://text`: for trying a client out."""

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        text = str(arguments["uri"]).removeprefix("echo:").removeprefix("//")
        return Body(text.replace("%20", " ").encode())

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


class Refusing:
    """Stands where no provider can read; says why."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        raise unreadable(arguments["uri"], self._why)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()
