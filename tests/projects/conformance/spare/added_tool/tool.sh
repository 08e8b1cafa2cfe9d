#!/usr/bin/env bash
printf 'I was added while the server ran.'
