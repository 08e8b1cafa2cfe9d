#!/bin/sh
sleep 1
echo "The job has failed, as it always does" >&2
exit 1
