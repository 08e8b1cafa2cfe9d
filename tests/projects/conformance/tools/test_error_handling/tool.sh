#!/usr/bin/env bash
printf 'This tool intentionally returns an error for testing'
exit 1
