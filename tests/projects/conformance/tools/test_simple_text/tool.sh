#!/usr/bin/env bash
printf 'This is a simple text response for testing.'
