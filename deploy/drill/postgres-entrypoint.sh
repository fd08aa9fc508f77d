#!/bin/bash
# Entry point of the PostgreSQL of the drill: understands the variables of the official image that compose.yaml sets.
set -euo pipefail
export PGDATA=/var/lib/postgresql/data
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 --auth-local=trust > /dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl -w -s -o "-c listen_addresses=" start > /dev/null
  createdb -h /run/postgresql -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w -s stop > /dev/null
fi
exec postgres -c listen_addresses='*'
