#!/usr/bin/env bash
# mcp: {"name": "hello", "description": "Says hello"}
echo 'Hello from a script!'
