#!/bin/bash
# Starts a Docker daemon of its own for the drill, in the network namespace $2 and with all its files below $1. It ends
# when this process ends.
set -euo pipefail
work=$1 namespace=$2
mkdir -p "$work/docker"
cat > "$work/daemon.json" << 'JSON'
{
  "default-ulimits": { "nofile": { "Name": "nofile", "Hard": 20000, "Soft": 20000 } },
  "bip": "172.29.0.1/16",
  "default-address-pools": [{ "base": "172.28.0.0/16", "size": 24 }]
}
JSON
ip netns add "$namespace"
ip -n "$namespace" link set lo up
# Not `ip netns exec`: it hides the mounts of control groups.
exec nsenter "--net=/run/netns/$namespace" dockerd --config-file "$work/daemon.json" --data-root "$work/docker/data" \
  --exec-root "$work/docker/exec" --pidfile "$work/docker/pid" --host "unix://$work/docker.sock"
