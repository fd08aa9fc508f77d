// Renders the message shown when Gesso is ready (standard error) and its JSON form (`--json`, standard output).
import manifest from "../package.json" with { type: "json" };
import type { GessoInstance } from "./start.ts";

const VERSION: string = manifest.version;

export type ReadyInfo = {
  gesso: GessoInstance;
  readySeconds: number;
  ephemeral: boolean;
  /** Undefined without a console. */
  consoleUrl: string | undefined;
};

export function renderReady({ gesso, readySeconds, ephemeral, consoleUrl }: ReadyInfo): string {
  const data = ephemeral ? `${gesso.dataDir}   (temporary: deleted on exit)` : gesso.dataDir;
  const link = consoleUrl === undefined ? "" : `\n  Console    ${consoleUrl}   (works once, for 60 s)`;
  return `
  gesso ${VERSION}   ready in ${readySeconds.toFixed(1)} s   for development, not for production

  API        ${gesso.url}/api/v1
  API key    ${gesso.key}
  Data       ${data}${link}
  Providers  sandbox (offline, free)

  In another terminal, set GESSO_URL and GESSO_API_KEY for the CLI, the client and all samples:

  source ${gesso.dataDir}/dev.env

  Generate a first image and save it as first.png:

  ${firstImageCommand(gesso)}

  Press Ctrl-C to stop.
`;
}

/** Uses only curl and sed, because jq is often not installed. */
export function firstImageCommand({ url, key }: Pick<GessoInstance, "url" | "key">): string {
  return `curl -fsS ${url}/api/v1/runs/generate \\
    -H 'Authorization: Bearer ${key}' \\
    -H 'Content-Type: application/json' \\
    -d '{"prompt":"a lighthouse by the sea","sync":true}' |
    sed -n 's/.*"image_url": *"\\([^"]*\\)".*/\\1/p' | xargs curl -fsS -o first.png`;
}

export function renderReadyJson({ gesso, readySeconds, ephemeral, consoleUrl }: ReadyInfo): string {
  return JSON.stringify({
    name: "gesso",
    version: VERSION,
    ready_seconds: Number(readySeconds.toFixed(3)),
    url: gesso.url,
    api_url: `${gesso.url}/api/v1`,
    api_key: gesso.key,
    console_url: consoleUrl ?? null,
    data_dir: gesso.dataDir,
    ephemeral,
    providers: [{ id: "sandbox", offline: true, ready: true }],
    components: gesso.components.map((component) => ({
      name: component.name,
      pid: component.pid,
      url: component.url,
      log: component.log,
    })),
  });
}
