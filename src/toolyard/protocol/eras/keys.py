"""The keys of `_meta` that the modern era reserves."""

PREFIX = "io.modelcontextprotocol/"
VERSION = PREFIX + "protocolVersion"
CAPABILITIES = PREFIX + "clientCapabilities"
CLIENT_INFO = PREFIX + "clientInfo"
SERVER_INFO = PREFIX + "serverInfo"
LOG_LEVEL = PREFIX + "logLevel"
SUBSCRIPTION_ID = PREFIX + "subscriptionId"
ENVELOPE_KEYS = frozenset({VERSION, CAPABILITIES, CLIENT_INFO, SERVER_INFO, LOG_LEVEL})
