// The files of a deployment with Docker Compose: copies of those that the package brings, and settings for this
// deployment. A file that exists is never changed.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROVIDER_LIST } from "@gesso/dev/providers/provider-list";
import manifest from "../../package.json" with { type: "json" };
import { type Deployment, renderNextSteps } from "./next-steps.ts";

/** The same folder in the repository and in the published package. */
const SOURCE = fileURLToPath(new URL("../../../deploy", import.meta.url));

const COPIED = {
  "compose.yaml": "the services",
  "compose.dev.yaml": "adds the sandbox, to try the deployment without keys",
  "haproxy.cfg": "the load balancer",
  Caddyfile: "the proxy with TLS",
  "monitoring/prometheus.yml": "what Prometheus reads",
  "monitoring/alerts.yaml": "the alerts",
  "monitoring/dashboards": "dashboards for Grafana",
} as const;

/** The range of the network between the proxy and the load balancer in compose.yaml. */
const OWN_PROXY = "172.30.253.0/24";
/** The address from which a proxy on this machine reaches the port that Compose publishes. */
const PROXY_OF_MACHINE = "172.30.254.1";

export type WrittenFile = { name: string; purpose: string; isNew: boolean };

export function writeDeployment(deployment: Deployment): WrittenFile[] {
  const { folder } = deployment;
  mkdirSync(folder, { recursive: true });
  const copied = Object.entries(COPIED).map(([name, purpose]) => {
    const isNew = !existsSync(join(folder, name));
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    if (isNew) cpSync(join(SOURCE, name), join(folder, name), { recursive: true });
    return { name, purpose, isNew };
  });
  const rendered = [
    { name: "gesso.env", purpose: "settings of the server: keys of providers, storage, limits", text: GESSO_ENV },
    { name: "NEXT-STEPS.md", purpose: "what to do now", text: renderNextSteps(deployment, manifest.version) },
  ].map(({ name, purpose, text }) => ({ name, purpose, isNew: writeNew(join(folder, name), text) }));
  const isNew = addSettings(join(folder, ".env"), settingsOf(deployment));
  return [...copied, ...rendered, { name: ".env", purpose: "settings of Compose: host, image, profiles", isNew }];
}

function writeNew(path: string, text: string): boolean {
  if (existsSync(path)) return false;
  writeFileSync(path, text, { mode: 0o600 });
  return true;
}

const settingsOf = ({ host, proxy }: Deployment): Record<string, { comment: string; value: string }> => ({
  COMPOSE_PROFILES: {
    comment: "Which optional services run: proxy (TLS) and monitoring (Prometheus).",
    value: proxy ? "proxy,monitoring" : "monitoring",
  },
  ...(proxy && {
    GESSO_HOST: { comment: "The host of the certificate. Its DNS entry leads to this machine.", value: host },
  }),
  PUBLIC_URL: { comment: "The URL that your users have.", value: `https://${host}` },
  REVERSE_PROXY: {
    comment:
      "The proxy in front of Gesso, which names the addresses of clients. For one elsewhere, write its address;\n" +
      "# if clients connect without one, write none.",
    value: proxy ? OWN_PROXY : PROXY_OF_MACHINE,
  },
});

/** Adds what is missing. Returns whether anything was. */
function addSettings(path: string, settings: ReturnType<typeof settingsOf>): boolean {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const missing = Object.entries(settings).filter(([name]) => !new RegExp(`^${name}=`, "m").test(text));
  if (missing.length === 0) return false;
  const lines = missing.map(([name, { comment, value }]) => `# ${comment}\n${name}=${value}\n`);
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  writeFileSync(path, `${before}${lines.join("")}`);
  return true;
}

const GESSO_ENV = `# Settings of the server, one per line. https://github.com/gesso-run/gesso/blob/main/docs/reference/settings.md
# lists all of them. Keys of providers are safer in files: gesso providers connect NAME --production prints how.
${PROVIDER_LIST.flatMap(({ name, settings }) => settings.map((setting) => `# ${name}\n# ${setting.name}=`)).join("\n")}
`;
