#!/usr/bin/env python3
"""Make up a city's weather, the same one every time. The arguments come as JSON on stdin."""

import json
import sys
import zlib

asked = json.load(sys.stdin)
seed = zlib.crc32(asked["city"].lower().encode())
warmth = seed % 30
days = ("today", "tomorrow", "the day after")
forecast = [
    {
        "day": day,
        "temperature": {"high": warmth + number, "low": warmth - 7 + number},
        "rain": (seed >> number) % 2 == 1,
    }
    for number, day in enumerate(days)
]
report = {
    "station": {"id": f"st-{seed:08x}", "city": asked["city"], "operator": "nobody"},
    "units": asked["units"],
    "readings": {
        "temperature": {"value": warmth, "sensor": "t1", "calibrated": "2026-01-05"},
        "humidity": {"value": 40 + seed % 50, "sensor": "h1", "calibrated": "2026-01-05"},
        "wind": {"value": seed % 12, "sensor": "w1", "calibrated": "2026-01-05"},
    },
    "forecast": forecast,
    "license": "Invented for this example; do not plan a picnic by it.",
}
print(json.dumps(report))
