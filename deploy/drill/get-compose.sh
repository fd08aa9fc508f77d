#!/bin/bash
# Fetches Docker Compose 2 into the work folder ($1): Debian 12 has only version 1. The package of the next release is
# one static program. Its archive is the one that this machine already uses.
set -euo pipefail
mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" && cd "$1/apt"
archive=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null || true; } |
  grep -oE '(URIs: *|^deb .*)https?://[^ ]+/debian/?( |$)' | grep -oE 'https?://[^ ]+' | head -n 1)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $archive trixie main" > trixie.list
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/trixie.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists"
  -o "Dir::Cache=$PWD/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root)
"${apt[@]}" update
"${apt[@]}" download docker-compose
dpkg -x docker-compose_*.deb .
mv usr/libexec/docker/cli-plugins/docker-compose "$1/docker-compose"
rm -rf "$1/apt"
