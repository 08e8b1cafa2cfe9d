#!/usr/bin/env python3
"""Count what is in a text. The arguments come as JSON on stdin, see tool.meta.json."""

import json
import re
import sys

WORDS_PER_MINUTE = 220

text = json.load(sys.stdin)["text"]
words = re.findall(r"\w+(?:['’-]\w+)*", text)
longest = max(words, key=len, default="")
print(
    json.dumps(
        {
            "words": len(words),
            "characters": len(text),
            "sentences": len(re.findall(r"[.!?]+(?:\s|$)", text)),
            "longestWord": longest,
            "readingSeconds": round(len(words) * 60 / WORDS_PER_MINUTE),
        },
        ensure_ascii=False,
    )
)
