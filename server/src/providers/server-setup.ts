// The settings that enable a provider, and what the operator of a server does with its key: the commands and the lines
// of files for Docker Compose, the chart and systemd. The key itself is in none of them. The command line and the
// console show them.
import type { Provider } from "./provider.ts";

/** The settings without which a provider is disabled. The first one is its key, or the URLs of your own servers. */
export function requiredSettings({ env }: Pick<Provider, "env">): string[] {
  const missing = env.safeParse({}).error?.issues.map(({ path }) => String(path[0] ?? "")) ?? [];
  return [...new Set(missing.filter((name) => name !== ""))];
}

/** `file`: the file that the lines belong to, with its context. Null: the lines are commands for a shell. */
export type SetupStep = { file: string | null; lines: string };
export type ServerSetup = { platform: string; where: string; steps: SetupStep[] };

export const describeServerSetup = (settings: readonly string[]): ServerSetup[] =>
  settings.flatMap((name) => stepsFor(name, name.toLowerCase()));

const stepsFor = (name: string, file: string): ServerSetup[] => [
  {
    platform: "Docker Compose",
    where: "in the folder with compose.yaml",
    steps: [
      { file: null, lines: `cat > secrets/${file}      # paste the key, Enter, Ctrl-D\nchmod 444 secrets/${file}` },
      {
        file: "compose.override.yaml",
        lines: `
services:
  api: &keys
    environment: { ${name}_FILE: /run/secrets/${file} }
    secrets: [${file}]
  worker: *keys
secrets:
  ${file}: { file: secrets/${file} }`.slice(1),
      },
      { file: null, lines: "docker compose up --wait" },
    ],
  },
  {
    platform: "Kubernetes",
    where: "with the Secret of the chart",
    steps: [
      {
        file: null,
        lines: `
read -rs key
printf '{"stringData":{"${name}":"%s"}}' "$key" |
  kubectl -n gesso patch secret gesso --patch-file /dev/stdin`.slice(1),
      },
      {
        file: "values of the chart, then helm upgrade",
        lines: `secret:\n  keys: [DATABASE_URL, GESSO_SECRET, RESTATE_IDENTITY_KEYS, ${name}]`,
      },
    ],
  },
  {
    platform: "systemd",
    where: "as root",
    steps: [
      {
        file: null,
        lines: `
cat > /etc/gesso/secrets/${file}      # paste the key, Enter, Ctrl-D
chown gesso: /etc/gesso/secrets/${file}`.slice(1),
      },
      { file: "/etc/gesso/gesso.env", lines: `${name}_FILE=/etc/gesso/secrets/${file}` },
      { file: null, lines: "systemctl restart gesso-api gesso-worker" },
    ],
  },
];
