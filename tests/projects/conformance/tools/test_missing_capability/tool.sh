#!/usr/bin/env bash
printf 'The client can sample.'
