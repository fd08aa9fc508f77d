// Installs the packed package into an empty folder with an empty cache, as a user does, starts `gesso dev` and makes
// the first image. Throws if a step fails; the folder is removed in any case.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSION } from "../package-names.ts";
import { createTrialEnvironment } from "./environment.ts";
import { measureProcesses, type ProcessFigures } from "./process-figures.ts";

const INSTALL_LIMIT_SECONDS = 300;
const START_LIMIT_SECONDS = 120;

export type Trial = { archive: string; nodeFolder: string | undefined; scripts: boolean };
export type TrialFigures = {
  node: string;
  npm: string;
  scripts: boolean;
  installSeconds: number;
  installMegabytes: number;
  readySeconds: number;
  imageSeconds: number;
  idle: ProcessFigures;
};

type Ready = { url: string; api_key: string; ready_seconds: number; components: { name: string; pid: number }[] };
type Place = { folder: string; env: Record<string, string> };

export async function tryInstallation({ archive, nodeFolder, scripts }: Trial): Promise<TrialFigures> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-package-"));
  const place = { folder, env: createTrialEnvironment(folder, nodeFolder) };
  try {
    const installSeconds = install(place, archive, scripts);
    const version = run(place, join(folder, "node_modules/.bin/gesso"), "--version");
    if (version !== VERSION) throw new Error(`gesso --version says ${version}`);
    const { ready, stop } = await startDev(place);
    const measured = async () => ({
      imageSeconds: await makeImage(ready),
      idle: await measureProcesses(ready.components.map(({ pid }) => pid)),
    });
    const figures = await measured().finally(stop);
    return {
      ...{ node: run(place, "node", "--version"), npm: run(place, "npm", "--version"), scripts },
      ...{ installSeconds, installMegabytes: Number(run(place, "du", "-sm", "node_modules").split("\t")[0]) },
      ...{ readySeconds: ready.ready_seconds, ...figures },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const run = ({ folder, env }: Place, command: string, ...parameters: string[]) =>
  execFileSync(command, parameters, {
    ...{ cwd: folder, env, encoding: "utf8", timeout: INSTALL_LIMIT_SECONDS * 1000 },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

const secondsSince = (start: number) => (performance.now() - start) / 1000;

function install(place: Place, archive: string, scripts: boolean): number {
  const start = performance.now();
  const options = ["--no-audit", "--no-fund", ...(scripts ? [] : ["--ignore-scripts"])];
  run(place, "npm", "install", ...options, archive);
  return secondsSince(start);
}

async function startDev({ folder, env }: Place): Promise<{ ready: Ready; stop(): Promise<void> }> {
  const child = spawn(join(folder, "node_modules/.bin/gesso"), ["dev", "--ephemeral", "--json"], { cwd: folder, env });
  const exited = once(child, "exit");
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  for (const start = performance.now(); !output.includes("\n"); await sleep(50)) {
    const isLate = secondsSince(start) > START_LIMIT_SECONDS;
    if (isLate) child.kill("SIGTERM");
    if (isLate || child.exitCode !== null) throw new Error(`gesso dev did not start: ${errors}`);
  }
  return {
    ready: JSON.parse(output),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      if (code !== 0) throw new Error(`gesso dev ended with ${code}: ${errors}`);
    },
  };
}

async function makeImage({ url, api_key }: Ready): Promise<number> {
  const start = performance.now();
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "a red bicycle", sync: true });
  const response = await fetch(`${url}/api/v1/runs/generate`, { method: "POST", headers, body });
  const created = (await response.json()) as { status: string; image_url: string };
  if (created.status !== "completed") throw new Error(`no image: ${JSON.stringify(created)}`);
  const image = Buffer.from(await (await fetch(created.image_url)).arrayBuffer());
  if (!image.subarray(1, 4).equals(Buffer.from("PNG"))) throw new Error("the image is not a PNG");
  return secondsSince(start);
}
