#!/usr/bin/env bash
printf '%s\n' '{"content":[{"type":"audio","data":"UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YRAAAAAAAAAAAAAAAAAAAAAAAAAA","mimeType":"audio/wav"}],"isError":false}'
