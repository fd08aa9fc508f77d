// Runs the core suite inside workerd, the runtime of Cloudflare Workers: a worker of plain modules, called over HTTP.
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@gesso/dev/components";
import { programPath, type SuiteResult } from "./runtimes.ts";

const WORKER = `
  import * as gesso from "./client/index.js";
  import * as webhooks from "./client/webhooks.js";
  import { runTests, suite } from "./core.js";
  export default {
    async fetch(request) {
      const { baseUrl, key, png } = await request.json();
      const options = { baseUrl, getToken: async () => key };
      const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
      return Response.json(await runTests(suite({ gesso, webhooks, options, png: bytes, isBrowser: false })));
    },
  };
`;

/** `folder` holds the core suite and the installed client. */
export async function runInWorkerd(folder: string, baseUrl: string, key: string): Promise<SuiteResult> {
  const port = await freePort();
  writeFileSync(join(folder, "worker.js"), WORKER);
  writeFileSync(join(folder, "worker.capnp"), configuration(folder, port));
  const server = spawn(programPath("workerd"), ["serve", "worker.capnp"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
  try {
    const png = readFileSync(join(folder, "red.png")).toString("base64");
    const response = await answerOf(server, port, JSON.stringify({ baseUrl, key, png }));
    const text = await response.text();
    if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}\n${output.join("")}`);
    return JSON.parse(text) as SuiteResult;
  } finally {
    server.kill();
  }
}

async function answerOf(server: ChildProcess, port: number, body: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body }).catch(() => undefined);
    if (response) return response;
    if (tries >= 100 || server.exitCode !== null) throw new Error("workerd does not listen");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function configuration(folder: string, port: number): string {
  const client = "node_modules/@gesso/client/esm";
  const modules = [
    ["worker.js", "worker.js"],
    ["core.js", "core.js"],
    ...readdirSync(join(folder, client))
      .filter((file) => file.endsWith(".js"))
      .map((file) => [`client/${file}`, `${client}/${file}`]),
  ];
  // Gesso listens on this machine, which a worker reaches only where it is allowed to.
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.map(([name, path]) => `(name = "${name}", esModule = embed "${path}")`).join(", ")}],
  compatibilityDate = "2026-01-01",
);
`;
}
