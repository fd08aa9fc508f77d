// `gesso init`: writes a deployment with Docker Compose into a folder: services, proxy with TLS, monitoring, settings,
// secrets and a page of next steps. What exists stays as it is.
import { join, relative } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { writeDeployment } from "../init/deployment-files.ts";
import { writeSecrets } from "../init/write-secrets.ts";
import { paint } from "../output/terminal.ts";

type Flags = { dir: string; host: string; proxy: boolean; secretsOnly?: boolean };

const EXAMPLES = `
Examples:
  gesso init                            a deployment for https://localhost in this folder
  gesso init --host gesso.example.com   with a certificate for this host
  gesso init --no-proxy                 behind a proxy of yours
  gesso init --secrets-only --dir /etc/gesso

Files, secrets and settings that exist stay as they are. No secret is printed.`;

const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

function parseHost(text: string): string {
  if (!HOST.test(text)) throw new InvalidArgumentError("The host must be a name, for example gesso.example.com.");
  return text.toLowerCase();
}

type Written = { name: string; purpose: string; isNew: boolean };

function renderList(title: string, written: readonly Written[]): string {
  const width = Math.max(...written.map(({ name }) => name.length));
  const lines = written.map(({ name, purpose, isNew }) => {
    const state = isNew ? paint("green", "created", process.stdout) : "kept   ";
    return `  ${state}  ${name.padEnd(width)}  ${paint("dim", purpose, process.stdout)}`;
  });
  return `${title}\n${lines.join("\n")}\n`;
}

export const initCommand = (): Command =>
  new Command("init")
    .option("--dir <directory>", "folder of the deployment", ".")
    .option("--host <name>", "host of the URL that your users have", parseHost, "localhost")
    .option("--no-proxy", "without a proxy with TLS, because you have one")
    .option("--secrets-only", "write nothing but secrets, for a deployment without Docker")
    .addHelpText("after", EXAMPLES)
    .action(({ dir, host, proxy, secretsOnly }: Flags) => {
      const folder = join(dir, "secrets");
      const secrets = writeSecrets(folder);
      const title = `Secrets in ${relative(".", folder) || folder}, a folder that only you can open:`;
      process.stdout.write(renderList(title, secrets));
      if (secretsOnly) return;
      const files = writeDeployment({ folder: dir, host, proxy });
      const steps = relative(".", join(dir, "NEXT-STEPS.md"));
      process.stdout.write(
        `\n${renderList(`Deployment in ${relative(".", dir) || "this folder"}:`, files)}\n` +
          `Next: read ${steps}. In short, in that folder: docker compose up --detach --wait\n`,
      );
    });
