// `gesso init`: creates the secrets of a deployment with Docker Compose, each in a file, and the setting that Compose
// requires.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Command } from "commander";
import { writeSecrets } from "../init/write-secrets.ts";
import { paint } from "../output/terminal.ts";

type Flags = { dir: string };

const EXAMPLES = `
Examples:
  gesso init                    write ./secrets and ./.env, beside compose.yaml
  gesso init --dir deploy       write deploy/secrets and deploy/.env

Secrets and settings that exist stay as they are. No secret is printed.`;

const NEXT_STEPS = `
Next steps, in the folder with compose.yaml and haproxy.cfg:
  1. Put the keys of your providers into gesso.env, for example FAL_KEY=...
  2. Set PUBLIC_URL in .env to the URL that your users have, for example PUBLIC_URL=https://gesso.example.com
  3. docker compose up --wait
  4. docker compose logs | grep "First API key"
To try it without keys: docker compose -f compose.yaml -f compose.dev.yaml up --wait`;

/** The address from which a proxy on this machine reaches the port that Compose publishes. */
const PROXY_SETTING = `# The reverse proxy in front of Gesso, which names the addresses of clients: this machine. For a proxy elsewhere, write its
# address; if clients connect without one, write none.
REVERSE_PROXY=172.30.254.1
`;

/** Returns whether the setting is new. */
function addProxySetting(path: string): boolean {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (/^REVERSE_PROXY=/m.test(text)) return false;
  appendFileSync(path, text === "" || text.endsWith("\n") ? PROXY_SETTING : `\n${PROXY_SETTING}`);
  return true;
}

export const initCommand = (): Command =>
  new Command("init")
    .option("--dir <directory>", "folder of the deployment", ".")
    .addHelpText("after", EXAMPLES)
    .action(({ dir }: Flags) => {
      const folder = join(dir, "secrets");
      const secrets = writeSecrets(folder);
      const width = Math.max(...secrets.map(({ name }) => name.length));
      const lines = secrets.map(({ name, purpose, isNew }) => {
        const state = isNew ? paint("green", "created", process.stdout) : "kept   ";
        return `  ${state}  ${name.padEnd(width)}  ${paint("dim", purpose, process.stdout)}`;
      });
      const settings = join(dir, ".env");
      const isNew = addProxySetting(settings);
      const place = relative(".", folder) || folder;
      process.stdout.write(
        `Secrets in ${place}, a folder that only you can open:\n${lines.join("\n")}\n` +
          `Settings in ${relative(".", settings)}: REVERSE_PROXY ${isNew ? "created" : "kept"}\n${NEXT_STEPS}\n`,
      );
    });
