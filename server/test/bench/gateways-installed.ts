// Portkey's gateway from npm and LiteLLM's proxy from PyPI, each in one process with its default settings. They are
// installed into the directory for temporary files when the benchmark runs, and are no dependencies of Gesso.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";
import type { Gateway, GatewayRequest } from "./gateways-load.ts";

const PORTKEY_VERSION = "1.15.2";
const LITELLM_VERSION = "1.106.2";
const INSTALL_MS = 900_000;
const execute = promisify(execFile);

export type StartedGateway = Gateway & { stop(): Promise<void> };
type Upstream = { url: string; model: string; bodyOf: GatewayRequest["bodyOf"]; checkResponse(text: string): void };

/** A finished installation has its name; one that was interrupted does not. */
async function installOnce(name: string, install: (directory: string) => Promise<unknown>): Promise<string> {
  const directory = join(tmpdir(), `gesso-gateways-${name}`);
  if (existsSync(directory)) return directory;
  const unfinished = mkdtempSync(`${directory}-`);
  await install(unfinished);
  renameSync(unfinished, directory);
  return directory;
}

const isReady = (url: string) => () =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

const environment = (extra: Record<string, string>) => ({ ...(process.env as Record<string, string>), ...extra });

const toGateway = (name: string, part: string, managed: ManagedProcess, upstream: Upstream) => ({
  name,
  pids: () => ({ [part]: managed.pid }),
  checkResponse: upstream.checkResponse,
  stop: () => managed.stop(),
});

export async function startPortkey(upstream: Upstream, directory: string): Promise<StartedGateway> {
  const installed = await installOnce(`portkey-${PORTKEY_VERSION}`, (to) =>
    execute("npm", ["install", "--no-save", "--ignore-scripts", `@portkey-ai/gateway@${PORTKEY_VERSION}`], {
      cwd: to,
      timeout: INSTALL_MS,
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const managed = await startProcess({
    name: "portkey",
    url,
    command: [
      ...[process.execPath, join(installed, "node_modules/@portkey-ai/gateway/build/start-server.js")],
      ...["--headless", `--port=${port}`],
    ],
    log: join(directory, "portkey.log"),
    directory,
    environment: environment({ NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" }),
    probe: isReady(url),
  });
  return {
    ...toGateway(`Portkey ${PORTKEY_VERSION}`, "gateway", managed, upstream),
    request: {
      url: `${url}/v1/images/generations`,
      headers: {
        authorization: "Bearer sk-fake",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `${upstream.url}/v1`,
      },
      bodyOf: upstream.bodyOf,
    },
  };
}

const LITELLM_KEY = "sk-litellm-bench";

export async function startLitellm(upstream: Upstream, directory: string): Promise<StartedGateway> {
  const python = await installOnce(`litellm-${LITELLM_VERSION}`, async (to) => {
    await execute("python3", ["-m", "venv", to], { timeout: INSTALL_MS });
    const pip = ["-m", "pip", "install", "--quiet", `litellm[proxy]==${LITELLM_VERSION}`];
    await execute(join(to, "bin/python"), pip, { timeout: INSTALL_MS });
  });
  const { model } = upstream;
  const config = join(directory, "litellm.yaml");
  mkdirSync(directory, { recursive: true });
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        {
          model_name: model,
          litellm_params: { model: `openai/${model}`, api_base: `${upstream.url}/v1`, api_key: "sk-fake" },
        },
      ],
      general_settings: { master_key: LITELLM_KEY },
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // Not the program `litellm`: its first line names the directory in which pip ran.
  const start = "import sys; from litellm import run_server; sys.exit(run_server())";
  const managed = await startProcess({
    name: "litellm",
    url,
    command: [
      ...[join(python, "bin/python"), "-c", start, "--config", config],
      ...["--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"],
    ],
    log: join(directory, "litellm.log"),
    directory,
    environment: environment({
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      LITELLM_LOG: "ERROR",
      LITELLM_TELEMETRY: "False",
    }),
    probe: isReady(`${url}/health/liveliness`),
    readySeconds: 120,
  });
  return {
    ...toGateway(`LiteLLM ${LITELLM_VERSION}`, "proxy", managed, upstream),
    request: {
      url: `${url}/v1/images/generations`,
      headers: { authorization: `Bearer ${LITELLM_KEY}` },
      bodyOf: upstream.bodyOf,
    },
  };
}
