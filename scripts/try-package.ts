// `npm run try:package`: installs the built package into an empty folder, as a user does, starts `gesso dev` and makes
// the first image. Prints seconds, megabytes, idle CPU and memory. By default without install scripts and with the
// Node.js that runs `npm`; `--scripts` runs them, and `--node <folder>` names the folder of another Node.js.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { buildPackage } from "./release/build-package.ts";
import { PACKAGE_NAME, VERSION } from "./release/package-names.ts";

const IDLE_SECONDS = 10;
const TICKS_PER_SECOND = 100;

const { values } = parseArgs({ options: { scripts: { type: "boolean" }, node: { type: "string" } } });
const folder = mkdtempSync(join(tmpdir(), "gesso-package-"));
/** Without the programs of this clone, which `npm run` puts in front. */
const path = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);
const env = {
  HOME: folder,
  PATH: values.node ? `${resolve(values.node)}${delimiter}${path}` : path,
  ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
  ...(process.env.npm_config_cache && { npm_config_cache: process.env.npm_config_cache }),
};
const run = (command: string, ...parameters: string[]) =>
  execFileSync(command, parameters, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
const secondsSince = (start: number) => (performance.now() - start) / 1000;

type Ready = { url: string; api_key: string; ready_seconds: number; components: { name: string; pid: number }[] };

async function startDev(): Promise<{ ready: Ready; stop(): Promise<number> }> {
  const gesso = join(folder, "node_modules/.bin/gesso");
  const child = spawn(gesso, ["dev", "--ephemeral", "--json"], { cwd: folder, env });
  const exited = once(child, "exit");
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  for (const start = performance.now(); !output.includes("\n"); await sleep(50))
    if (child.exitCode !== null || secondsSince(start) > 120) throw new Error(`gesso dev did not start: ${errors}`);
  return {
    ready: JSON.parse(output),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      return code as number;
    },
  };
}

async function makeImage({ url, api_key }: Ready): Promise<number> {
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "a red bicycle", sync: true });
  const response = await fetch(`${url}/api/v1/runs/generate`, { method: "POST", headers, body });
  const created = (await response.json()) as { status: string; image_url: string };
  if (created.status !== "completed") throw new Error(`no image: ${JSON.stringify(created)}`);
  const image = Buffer.from(await (await fetch(created.image_url)).arrayBuffer());
  if (!image.subarray(1, 4).equals(Buffer.from("PNG"))) throw new Error("the image is not a PNG");
  return image.byteLength;
}

/** The components and all processes that they started. */
function listProcesses(roots: readonly number[]): number[] {
  const parents = run("ps", "-eo", "pid=,ppid=")
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const all = new Set(roots);
  for (let size = 0; size !== all.size; ) {
    size = all.size;
    for (const [pid, parent] of parents) if (all.has(parent)) all.add(pid);
  }
  return [...all];
}

/** Empty if the process has ended meanwhile. */
const readProcess = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
};
const cpuSeconds = (pid: number) => {
  const fields = readProcess(pid, "stat").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
};
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
/** Shared pages count once. */
const megabytes = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(readProcess(pid, "smaps_rollup"))?.[1] ?? 0) / 1024;

try {
  const target = resolve("dist/package");
  buildPackage(target);
  run("npm", "pack", target, "--silent", "--pack-destination", folder);
  const installed = performance.now();
  run(
    ...(["npm", "install", "--no-audit", "--no-fund"] as const),
    ...(values.scripts ? [] : ["--ignore-scripts"]),
    join(folder, `${PACKAGE_NAME}-${VERSION}.tgz`),
  );
  const size = Number(run("du", "-sm", "node_modules").split("\t")[0]);
  const scripts = values.scripts ? "with" : "without";
  console.log(`Node.js ${run("node", "--version")}, ${scripts} install scripts`);
  console.log(`installed in ${secondsSince(installed).toFixed(1)} s, ${size} MB`);
  const version = run(join(folder, "node_modules/.bin/gesso"), "--version");
  if (version !== VERSION) throw new Error(`gesso --version says ${version}`);

  const { ready, stop } = await startDev();
  console.log(`gesso dev ready in ${ready.ready_seconds.toFixed(1)} s`);
  const started = performance.now();
  const bytes = await makeImage(ready);
  console.log(`first image in ${secondsSince(started).toFixed(2)} s, ${bytes} bytes`);
  const processes = listProcesses(ready.components.map(({ pid }) => pid));
  const before = processes.map(cpuSeconds);
  await sleep(IDLE_SECONDS * 1000);
  const used = sum(processes.map((pid, index) => Math.max(0, cpuSeconds(pid) - before[index]!))) / IDLE_SECONDS;
  const memory = sum(processes.map(megabytes));
  console.log(`idle: ${(used * 100).toFixed(1)} % of a processor, ${memory.toFixed(0)} MB`);
  const code = await stop();
  if (code !== 0) throw new Error(`gesso dev ended with ${code}`);
  console.log("stopped");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
