#!/usr/bin/env bash
# nginx, Redis and two replicas on one machine, until Ctrl-C: examples/cluster/serve.sh [PORT]
# Everything is in a folder of its own, which goes with it.
set -euo pipefail

port=${1:-8080}
here=$(cd "$(dirname "$0")" && pwd)
yard=${PROJECT:-$here/../demo}
toolyard=${TOOLYARD:-toolyard}
PATH=$PATH:/usr/sbin
for program in redis-server nginx "$toolyard"; do
	command -v "$program" >/dev/null || {
		echo "$program is not installed" >&2
		exit 1
	}
done

place=$(mktemp -d "${TMPDIR:-/tmp}/cluster.XXXXXX")
pids=()
end() {
	trap - EXIT INT TERM
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
	rm -rf "$place"
}
wait_until() {
	until "$@" 2>/dev/null; do
		kill -0 "${pids[@]}" 2>/dev/null || {
			cat "$place"/*.log >&2
			exit 1
		}
		sleep 0.05
	done
}
listens() {
	(: <"/dev/tcp/127.0.0.1/$1")
}
trap end EXIT
trap 'exit 0' INT TERM

TOOLYARD_CLUSTER_KEY=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export TOOLYARD_CLUSTER_KEY TOOLYARD_STORE="unix://$place/redis.sock"

redis-server --port 0 --unixsocket "$place/redis.sock" --dir "$place" --save '' \
	--maxmemory-policy noeviction >"$place/redis.log" &
pids+=($!)
wait_until test -S "$place/redis.sock"

for replica in 1 2; do
	"$toolyard" serve "$yard" --http $((port + replica)) --no-page &
	pids+=($!)
done

sed -e "s|@PLACE@|$place|g" -e "s|@PORT@|$port|" \
	-e "s|@FIRST@|$((port + 1))|" -e "s|@SECOND@|$((port + 2))|" \
	"$here/nginx.conf" >"$place/nginx.conf"
nginx -e "$place/nginx.log" -p "$place" -c "$place/nginx.conf" &
pids+=($!)
for address in $port $((port + 1)) $((port + 2)); do
	wait_until listens "$address"
done

echo "Two replicas, round robin, at http://127.0.0.1:$port/mcp (Ctrl-C ends them all)" >&2
echo "Try: kill -9 ${pids[1]}; a session goes on at the other one." >&2
while true; do wait -n || true; done
