#!/usr/bin/env python3
"""Arguments are JSON on stdin; the result is JSON on stdout. Nothing has to be imported."""

import csv
import io
import json
import os
import sys


def report(done: int, total: int, message: str) -> None:
    """Progress is a JSON-RPC notification, one line, appended to a file."""
    stream, token = os.environ.get("MCP_PROGRESS_STREAM"), os.environ.get("MCP_PROGRESS_TOKEN")
    if not stream or not token:
        return
    params = {"progressToken": token, "progress": done, "total": total}
    line = {"jsonrpc": "2.0", "method": "notifications/progress"}
    with open(stream, "a") as file:
        file.write(json.dumps({**line, "params": {**params, "message": message}}) + "\n")


def average(values: list[str]) -> float | None:
    try:
        return sum(map(float, values)) / len(values)
    except (ValueError, ZeroDivisionError):
        return None


rows = list(csv.DictReader(io.StringIO(json.load(sys.stdin)["csv"])))
if not rows:
    # A non-zero exit is an error that the model reads; stderr says why.
    sys.exit("there are no rows in this CSV")

averages = {}
columns = list(rows[0])
for number, column in enumerate(columns, start=1):
    value = average([row[column] for row in rows])
    if value is not None:
        averages[column] = value
    report(number, len(columns), column)
print(json.dumps({"rows": len(rows), "averages": averages}))
