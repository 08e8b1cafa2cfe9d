"""Every knob, one row each: kind, default, meaning.

Knows names, types and defaults; knows nothing about what a value is used for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolyard.settings.knob import (
    LEVEL,
    OBJECT,
    OBJECTS,
    PATH,
    PATHS,
    RATE,
    SECONDS,
    SWITCH,
    TEXT,
    WHOLE,
    WORDS,
    Knob,
    choice,
)

_ENV_MODES = ("allowlist", "inherit")


class ValuePlace(NamedTuple):
    """Where a value stands: a variable, a flag, or a file and the JSON pointer into it."""

    file: str
    pointer: str


class Settings:
    """The table. The attribute is the variable without MCPBASH_, then default and meaning."""

    __slots__ = ("_places", "_values")
    _values: dict[str, Any]
    _places: Mapping[str, ValuePlace]

    # Project
    project_root = Knob(PATH, "", "The project; unset: the nearest with a `server.meta.json`.")
    tools_dir = Knob(PATH, "tools", "Where tools are discovered.")
    resources_dir = Knob(PATH, "resources", "Where resources and templates are discovered.")
    prompts_dir = Knob(PATH, "prompts", "Where prompts are discovered.")
    server_dir = Knob(PATH, "server.d", "Where the server's metadata, registration and hooks are.")
    providers_dir = Knob(PATH, "providers", "Where the project's own resource providers are.")
    ui_dir = Knob(PATH, "ui", "Where shared MCP Apps pages are.")
    completions_dir = Knob(PATH, "completions", "Where completion scripts are, by convention.")
    # Who the server is, where `server.meta.json` does not say
    server_name = Knob(TEXT, "", "Its name; unset: the folder's. Also the host of `ui://` URIs.")
    server_title = Knob(TEXT, "", "Its title; unset: made of the name.")
    server_version = Knob(TEXT, "", "Its version; unset: of `VERSION` or `package.json`.")
    server_description = Knob(TEXT, "", "What it is for.")
    server_website_url = Knob(TEXT, "", "Where to read about it.")
    server_icons = Knob(OBJECTS, (), "Its icons, as in `server.meta.json`.")
    server_instructions = Knob(TEXT, "", "Where there is no `server.instructions.md`.")
    max_instructions_bytes = Knob(WHOLE, 2048, "Instructions of other servers, all together.")
    # What models read
    view = Knob(TEXT, "", "Which tools are listed: `full`, `index` or `search`; unset: `full`.")
    budget = Knob(WHOLE, 0, "In place of a view: the fullest that takes so many tokens; 0: none.")
    result_limit = Knob(TEXT, "", "Most of a result that is sent: tokens, or a text like `64 kB`.")
    results_dir = Knob(PATH, "", "Where the rest is kept; unset: in the user's state folder.")
    kept_results_secs = Knob(SECONDS, 3600, "For how long.")
    max_kept_results_bytes = Knob(WHOLE, 268435456, "How much of them, all together.")
    pinned = Knob(WORDS, (), "Tools that every view lists, as patterns.")
    # Registry
    registry_dir = Knob(PATH, ".registry", "Where the generated registry files are kept.")
    registry_max_bytes = Knob(WHOLE, 104857600, "Largest registry; a larger cache is ignored.")
    registry_refresh_path = Knob(PATH, "", "Scan only below this path.")
    static_registry = Knob(SWITCH, False, "Serve the registry files as they are, without scanning.")
    tools_ttl = Knob(SECONDS, 5, "Age at which a scan is made anew where files cannot be watched.")
    resources_ttl = Knob(SECONDS, 5, "The same for resources.")
    prompts_ttl = Knob(SECONDS, 5, "The same for prompts.")
    resources_templates_ttl = Knob(SECONDS, 5, "The same for resource templates.")
    ui_ttl = Knob(SECONDS, 5, "The same for MCP Apps pages.")
    register_ttl = Knob(SECONDS, 5, "The same for `server.d/register.json` and `register.sh`.")
    max_manual_registry_bytes = Knob(WHOLE, 1048576, "Largest `server.d/register.json`.")
    manual_buffer_max_bytes = Knob(WHOLE, 1048576, "Most that `server.d/register.sh` may register.")
    page_size = Knob(WHOLE, 1000, "Entries on a page of a list (templates and `mcp-bash`: 50).")
    # Calls
    max_concurrent_requests = Knob(WHOLE, 16, "Child processes at the same time; others wait.")
    max_asking_scripts = Knob(WHOLE, 64, "Beside those, scripts that wait for a client's answer.")
    default_tool_timeout = Knob(SECONDS, 30, "Seconds a script may take unless it says more.")
    max_timeout_secs = Knob(SECONDS, 600, "No timeout is longer than this.")
    progress_extends_timeout = Knob(SWITCH, False, "Progress restarts the clock of a call.")
    max_tool_output_size = Knob(WHOLE, 10485760, "Largest output of a tool, in bytes.")
    max_resource_bytes = Knob(WHOLE, 10485760, "Largest resource.", follows="max_tool_output_size")
    max_ui_resource_bytes = Knob(WHOLE, 1048576, "Largest MCP Apps page, in bytes.")
    max_text_bytes = Knob(WHOLE, 102400, "Largest text that the script library leaves uncut.")
    max_progress_per_min = Knob(WHOLE, 100, "Progress messages of a call in a minute.")
    max_logs_per_min = Knob(WHOLE, 100, "Log messages.", follows="max_progress_per_min")
    env_payload_threshold = Knob(WHOLE, 65536, "Longer arguments go into a file only; 0: all.")
    tool_stderr_capture = Knob(SWITCH, True, "Put the end of a tool's stderr into `_meta.stderr`.")
    tool_stderr_tail_limit = Knob(WHOLE, 4096, "How much of it, in bytes.")
    tool_stream_stderr = Knob(SWITCH, False, "Copy a tool's error output to our own while it runs.")
    # Tasks: calls that go on when their request is answered
    task_timeout = Knob(SECONDS, 3600, "Seconds a task may take unless its tool says otherwise.")
    task_keep = Knob(SECONDS, 3600, "Seconds that its outcome is kept beyond that.")
    max_task_ttl = Knob(SECONDS, 86400, "No task is kept longer, whatever a client wishes.")
    max_tasks = Knob(WHOLE, 64, "Tasks of one caller that run at the same time.")
    max_running_tasks = Knob(WHOLE, 256, "Scripts that run as tasks at the same time; others wait.")
    max_kept_tasks = Knob(WHOLE, 10000, "Tasks of one caller, with those that are over.")
    max_kept_task_bytes = Knob(WHOLE, 268435456, "What the tasks of one caller may hold, in bytes.")
    max_task_result_bytes = Knob(WHOLE, 16777216, "Largest result of a task.")
    tasks_dir = Knob(PATH, "", "Where tasks are kept; unset: the user's state folder.")
    # What may run, and with which environment
    tool_allowlist = Knob(WORDS, (), "Tools that may be called; `*` for all. Others stay listed.")
    tool_allow_default = Knob(choice("deny", "allow", "all"), "deny", "For tools not on that list.")
    tool_env_mode = Knob(choice("minimal", *_ENV_MODES), "minimal", "What a tool gets.")
    tool_env_allowlist = Knob(WORDS, (), "Variables that a tool gets in mode `allowlist`.")
    tool_env_inherit_allow = Knob(SWITCH, False, "Permit the mode `inherit`.")
    provider_env_mode = Knob(choice("isolate", *_ENV_MODES), "isolate", "What a provider gets.")
    provider_env_allowlist = Knob(WORDS, (), "Variables that a provider gets in mode `allowlist`.")
    provider_env_inherit_allow = Knob(SWITCH, False, "Permit the mode `inherit` for providers.")
    allow_project_hooks = Knob(SWITCH, False, "Run `register.sh` and `env.sh` where safe.")
    json_tool = Knob(TEXT, "", "jq or gojq, for scripts; unset: whichever is installed.")
    json_tool_bin = Knob(PATH, "", "The path of that program.")
    allow_json_tool_override_for_root = Knob(SWITCH, False, "Honour those two when we run as root.")
    run_tool_source_server_env = Knob(SWITCH, False, "`run-tool` reads `server.d/env.sh` first.")
    # Resources
    resources_roots = Knob(PATHS, (), "What the file provider may read; unset: resources.")
    resources_poll_interval_secs = Knob(SECONDS, 2, "How often subscribed resources are read.")
    https_allow_hosts = Knob(WORDS, (), "Hosts the https provider may reach.")
    https_deny_hosts = Knob(WORDS, (), "Hosts it may not, whatever the other list says.")
    https_allow_all = Knob(SWITCH, False, "Any public host.")
    https_timeout = Knob(SECONDS, 15, "Seconds for one https resource (at most 60).")
    https_max_bytes = Knob(WHOLE, 10485760, "Largest https resource (at most 20 MiB).")
    https_user_agent = Knob(TEXT, "", "What the https provider calls itself.")
    enable_git_provider = Knob(SWITCH, False, "Serve `git+https://` resources.")
    git_allow_hosts = Knob(WORDS, (), "Hosts the git provider may reach.")
    git_deny_hosts = Knob(WORDS, (), "Hosts it may not, whatever the other list says.")
    git_allow_all = Knob(SWITCH, False, "Any public host.")
    git_timeout = Knob(SECONDS, 30, "Seconds for one git resource (at most 60).")
    git_max_kb = Knob(WHOLE, 51200, "Largest clone, in KiB (at most 1 GiB).")
    # Questions to the client
    roots = Knob(PATHS, (), "Roots for scripts; unset: `config/roots.json`, then the project.")
    roots_debounce_interval = Knob(SECONDS, 1, "Wait after the client says its roots changed.")
    roots_request_timeout = Knob(SECONDS, 5, "Seconds for the client to list its roots.")
    elicitation_timeout = Knob(SECONDS, 30, "Seconds for the client's user to answer.")
    # Server
    compat_batches = Knob(SWITCH, False, "Accept JSON-RPC batches in every handshake revision.")
    force_minimal = Knob(SWITCH, False, "Only lifecycle, ping and logging.")
    shutdown_timeout = Knob(SECONDS, 5, "Seconds after `shutdown` until the process ends.")
    drain_pause = Knob(SECONDS, 3, "Seconds after TERM in which a balancer may notice, over HTTP.")
    idle_timeout = Knob(SECONDS, 3600, "Seconds without traffic after which a stdio server ends.")
    idle_timeout_enabled = Knob(SWITCH, True, "Whether it does.")
    orphan_check_enabled = Knob(SWITCH, True, "End when the process that started us is gone.")
    orphan_check_interval = Knob(SECONDS, 30, "How often that is checked.")
    health_timeout_secs = Knob(SECONDS, 5, "Seconds for the `health` command.")
    tmp_root = Knob(PATH, "", "Where the exchange folders are made; unset: the system's place.")
    # Bounds on what clients and upstreams may make us hold
    max_batch = Knob(WHOLE, 100, "Messages in a JSON-RPC batch; a longer one is refused whole.")
    replay_session_bytes = Knob(WHOLE, 16777216, "Answers kept for a session to resume, in bytes.")
    replay_bytes = Knob(WHOLE, 268435456, "The same for all sessions together.")
    max_upstream_message_bytes = Knob(WHOLE, 67108864, "Largest message of another server.")
    max_upstream_entries = Knob(
        WHOLE, 10000, "Entries in a list of another server; others are cut."
    )
    max_upstream_messages_per_sec = Knob(
        RATE, 1000, "Unasked messages of one; it is read no faster."
    )
    max_call_messages_per_sec = Knob(RATE, 100, "Progress and logs of one call there; more is cut.")
    # Page
    page_traffic = Knob(SWITCH, True, "Keep the last calls in memory for the page to show.")
    page_read_only = Knob(SWITCH, False, "The page cannot change the registry file.")
    # Remote token
    remote_token = Knob(TEXT, "", "What requests must carry (32 characters or more).", secret=True)
    remote_token_key = Knob(TEXT, "mcpbash/remoteToken", "Where in `_meta` it is looked for.")
    remote_token_fallback_key = Knob(TEXT, "remoteToken", "Where else.")
    remote_token_max_failures_per_min = Knob(WHOLE, 10, "Failures before attempts are throttled.")
    # What one caller may take
    max_subscriptions = Knob(WHOLE, 1000, "Subscriptions of one caller at the same time.")
    max_sessions = Knob(WHOLE, 10000, "Sessions over HTTP at the same time.")
    max_sessions_per_caller = Knob(WHOLE, 1000, "Those of one caller; the oldest end first.")
    # Connections over HTTP
    max_connections = Knob(WHOLE, 4096, "Connections at the same time.")
    max_connections_per_address = Knob(WHOLE, 256, "From one address, but for this machine's own.")
    head_timeout = Knob(SECONDS, 10, "Seconds for the head of a request to arrive.")
    body_timeout = Knob(SECONDS, 60, "Seconds for its body, once the head is here.")
    stall_timeout = Knob(SECONDS, 60, "Seconds that a client may take nothing of its answer.")
    keep_alive = Knob(SECONDS, 75, "Seconds that a connection may stay without a request.")
    # Several processes that serve the same
    store = Knob(TEXT, "", "What they share, as `redis://HOST:PORT`.", secret=True)
    peer = Knob(
        TEXT, "", "`HOST:PORT` where they reach this one; unset: any port, facing the store."
    )
    cluster_key = Knob(WORDS, (), "The secret they share; two while it is changed.", secret=True)
    # Who may call, and what
    tokens = Knob(OBJECTS, (), "Callers by token; `toolyard token new` makes them.", secret=True)
    oauth = Knob(OBJECT, {}, "Accept tokens of this `issuer` for our URL, `resource`.")
    rules = Knob(OBJECTS, (), "Which callers see and call what; unset: all of it.")
    limits = Knob(OBJECTS, (), "How often callers may call.")
    audit_log = Knob(PATH, "", "Write a line for each call and each refused credential here.")
    audit_format = Knob(choice("json", "cef"), "json", "Its lines: JSON, or ArcSight's CEF.")
    audit_max_bytes = Knob(
        WHOLE, 104857600, "How large it gets before it is put aside; 0: any size."
    )
    audit_keep = Knob(WHOLE, 5, "Files put aside that are kept, as `.1`, `.2` and so on.")
    audit_arguments = Knob(SWITCH, False, "Write the arguments of calls there as well.")
    # Whom we call
    credentials_dir = Knob(PATH, "", "Where logins are kept; unset: the user's state folder.")
    client_metadata_url = Knob(TEXT, "", "Our OAuth client id: the URL of its metadata document.")
    # Metrics
    metrics = Knob(SWITCH, True, "Count what is served over HTTP, for `/metrics` and the page.")
    metrics_series = Knob(WHOLE, 2000, "Label sets of a metric; more are counted as `other`.")
    # Traces, where OTEL_* asks for them
    trace_context = Knob(choice("parent", "link"), "parent", "What a client's span is to ours.")
    trace_payloads = Knob(SWITCH, False, "Arguments and results of tools in spans as well.")
    # Logs
    log_level = Knob(LEVEL, "info", "What we log to the error output (`true` means debug).")
    log_level_default = Knob(LEVEL, "info", "What a client is sent before it asks for a level.")
    log_startup = Knob(SWITCH, False, "One line about the start.")
    log_dir = Knob(PATH, "", "Keep logs in this folder as well.")
    log_json_tool = Knob(choice("quiet", "log"), "quiet", "Say which JSON tool the scripts get.")
    quiet = Knob(SWITCH, False, "Log errors only.")
    ci_mode = Knob(SWITCH, False, "Write down each failed call, and what the machine is like.")
    ci_verbose = Knob(SWITCH, False, "Debug level in that mode.")
    debug = Knob(SWITCH, False, "Debug level.")
    debug_log = Knob(PATH, "", "Scripts append their debug lines to this file.")
    debug_payloads = Knob(SWITCH, False, "Log each message, secrets masked.")
    trace_tools = Knob(SWITCH, False, "Run bash tools with `set -x` into a trace file.")
    trace_ps4 = Knob(TEXT, "", "The prefix of trace lines.")

    def __init__(self, places: Mapping[str, ValuePlace] | None = None, /, **values: object) -> None:
        extra = dict(values)
        all_values = {knob.name: extra.pop(knob.name, knob.default) for knob in knobs()}
        if extra:
            raise TypeError(f"no such setting: {', '.join(extra)}")
        for knob in knobs():
            if knob.follows and knob.name not in values:
                all_values[knob.name] = all_values[knob.follows]
        object.__setattr__(self, "_values", all_values)
        object.__setattr__(self, "_places", places or {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen: {name}")

    def replace(self, **changes: object) -> Settings:
        return Settings(self._places, **{**self._values, **changes})

    def place(self, name: str) -> ValuePlace:
        """Where a setting was given, for whoever finds a mistake in it."""
        return self._places.get(name) or ValuePlace("settings", f"/{name}")


# Variables of mcp-bash that a project may set and that have nothing to act on here.
WITHOUT_EFFECT = {
    "progress is always live": "ENABLE_LIVE_PROGRESS PROGRESS_FLUSH_INTERVAL",
    "a script cannot reach our standard output": (
        "CORRUPTION_WINDOW CORRUPTION_THRESHOLD ALLOW_CORRUPT_STDOUT"
    ),
    "there are no lock files": "LOCK_ROOT LOCK_POLL_INTERVAL LOCK_REAP_GRACE_SECS",
    "every child has its own process group": "SKIP_PROCESS_GROUP_LOOKUP",
    "our log always has times and paths, and what is in its folder stays": (
        "LOG_TIMESTAMP LOG_VERBOSE KEEP_LOGS"
    ),
    "the end of a script's error output is always in `_meta`, and no more of it is kept": (
        "DEBUG_ERRORS MAX_TOOL_STDERR_SIZE"
    ),
    "the command says how the server is reached: stdio, or `serve --http`": "TRANSPORT",
    "state is in memory, and exchange folders in `MCPBASH_TMP_ROOT`": "STATE_DIR",
    "exchange folders hold nothing once a call has ended": "PRESERVE_STATE",
    "trace files are not cut": "TRACE_MAX_BYTES",
    "a subscription is answered at once": "DEFAULT_SUBSCRIBE_TIMEOUT",
    "pages are filled faster than they are looked up": "UI_CACHE_MAX_TEMPLATES",
    "internal to mcp-bash": "DEBUG_ALL_EXITS DIRECT_FD STATE_SEED",
}

_KNOBS: tuple[Knob[Any], ...] = tuple(
    value for value in vars(Settings).values() if isinstance(value, Knob)
)


def knobs() -> tuple[Knob[Any], ...]:
    return _KNOBS


def secret_variables() -> frozenset[str]:
    """Variables that never reach a child process."""
    variables = {v for knob in _KNOBS if knob.secret for v in (knob.variable, knob.own_variable)}
    return frozenset(
        variables | {"TOOLYARD_TOKEN", "MCP_REGISTRY_TOKEN", "TOOLYARD_REGISTRY_TOKEN"}
    )
