// What a person sees when Gesso is ready (standard error), and what a program reads (`--json`, standard output).
import manifest from "../package.json" with { type: "json" };
import type { GessoInstance } from "./start.ts";

const VERSION: string = manifest.version;

export type ReadyInfo = { gesso: GessoInstance; readySeconds: number; ephemeral: boolean };

export function renderReady({ gesso, readySeconds, ephemeral }: ReadyInfo): string {
  const data = ephemeral ? `${gesso.dataDir}   (temporary: deleted on exit)` : gesso.dataDir;
  return `
  gesso ${VERSION}   ready in ${readySeconds.toFixed(1)} s   for development, not for production

  API        ${gesso.url}/api/v1
  API key    ${gesso.key}   (also in ${gesso.dataDir}/dev.env)
  Data       ${data}
  Providers  sandbox (offline) ✓ ready

  First image (run in another terminal, writes first.png):

  ${firstImageCommand(gesso)}

  Ctrl-C stops everything.
`;
}

/** Only curl and sed, because a machine without jq is the usual one. */
export function firstImageCommand({ url, key }: Pick<GessoInstance, "url" | "key">): string {
  const request = `curl -fsS ${url}/api/v1/runs/generate -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  const body = `-d '{"prompt":"a lighthouse by the sea","sync":true}'`;
  const address = `sed -n 's/.*"image_url": *"\\([^"]*\\)".*/\\1/p'`;
  return `${request} ${body} | ${address} | xargs curl -fsS -o first.png`;
}

export function renderReadyJson({ gesso, readySeconds, ephemeral }: ReadyInfo): string {
  return JSON.stringify({
    name: "gesso",
    version: VERSION,
    ready_seconds: Number(readySeconds.toFixed(3)),
    url: gesso.url,
    api_url: `${gesso.url}/api/v1`,
    api_key: gesso.key,
    data_dir: gesso.dataDir,
    ephemeral,
    providers: [{ id: "sandbox", offline: true, ready: true }],
    parts: gesso.parts.map((part) => ({ name: part.name, pid: part.pid, url: part.url, log: part.log })),
  });
}
