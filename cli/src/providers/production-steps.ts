// What the operator of a server does with the key of a provider: the lines for Docker Compose, the chart and systemd.
// The key itself is in none of them.
import type { ListedProvider } from "@gesso/dev/providers/provider-list";

export function renderProductionSteps({ settings }: ListedProvider): string[] {
  return settings.flatMap(({ name }) => stepsFor(name, name.toLowerCase()));
}

const stepsFor = (name: string, file: string): string[] =>
  `
Nothing was saved. On the server, put the key where its other secrets are.

Docker Compose, in the folder with compose.yaml:

  cat > secrets/${file}      # paste the key, Enter, Ctrl-D
  chmod 444 secrets/${file}

  compose.override.yaml:

    services:
      api: &keys
        environment: { ${name}_FILE: /run/secrets/${file} }
        secrets: [${file}]
      worker: *keys
    secrets:
      ${file}: { file: secrets/${file} }

  docker compose up --wait

Kubernetes, with the Secret of the chart:

  read -rs key
  printf '{"stringData":{"${name}":"%s"}}' "$key" |
    kubectl -n gesso patch secret gesso --patch-file /dev/stdin

  values of the chart, then helm upgrade:

    secret:
      keys: [DATABASE_URL, GESSO_SECRET, RESTATE_IDENTITY_KEYS, ${name}]

systemd, as root:

  cat > /etc/gesso/secrets/${file}      # paste the key, Enter, Ctrl-D
  chown gesso: /etc/gesso/secrets/${file}

  /etc/gesso/gesso.env:

    ${name}_FILE=/etc/gesso/secrets/${file}

  systemctl restart gesso-api gesso-worker`.split("\n");
