import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { isAlive } from "./process-info.ts";
import { waitUntil } from "./readiness-probe.ts";
import { firstImageCommand } from "./ready-output.ts";

const RUN = fileURLToPath(new URL("../test/run-dev.ts", import.meta.url));
const TIMEOUT = 40_000;

type Started = { child: ChildProcess; said: () => string; ready: Ready };
type Ready = { url: string; api_key: string; parts: { name: string; pid: number }[] };

async function runDev(...parameters: string[]): Promise<Started> {
  const child = spawn(process.execPath, [RUN, ...parameters], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (typeof line === "number") throw new Error(`exit ${line}: ${said}`);
  return { child, said: () => said, ready: JSON.parse(String(line)) };
}

async function interrupt({ child }: Started): Promise<number> {
  child.kill("SIGINT");
  return (await once(child, "exit"))[0];
}

it(
  "starts, gives a picture by the line it shows, stops in order, and finds its data again",
  async () => {
    const data = temporaryDirectory();
    const first = await runDev(data);
    const { url, api_key: key, parts } = first.ready;
    expect(parts.map((part) => part.name)).toEqual(["server", "sandbox", "restate", "postgres"]);

    const place = temporaryDirectory();
    const shell = spawnSync("sh", ["-c", firstImageCommand({ url, key })], { cwd: place, encoding: "utf8" });
    expect(shell).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(`${place}/first.png`, "utf8")).toContain("PNG");

    const environment = await (await fetch(`${url}/environment`)).json();
    expect(environment).toMatchObject({ STORAGE: "disk", PUBLIC_URL: url, GESSO_DEV_KEY: key, HOST: "127.0.0.1" });
    await expect(runDev(data)).rejects.toThrow(`exit 2: gesso dev: The data directory ${data} is in use`);

    expect(await interrupt(first)).toBe(0);
    expect(first.said()).toMatch(/stopped server.*stopped sandbox.*stopped restate.*stopped postgres.*All stopped/s);
    expect(parts.filter((part) => isAlive(part.pid))).toEqual([]);

    const second = await runDev(data);
    expect(second.ready).toMatchObject({ url, api_key: key });
    const again = (await (await fetch(`${url}/environment`)).json()) as Record<string, string>;
    for (const name of ["GESSO_SECRET", "DATABASE_URL", "SANDBOX_KEY", "WORKER_PORT"]) {
      expect(again[name]).toBe(environment[name]);
    }
    second.child.kill("SIGKILL");
    expect(await waitUntil(async () => !second.ready.parts.some((part) => isAlive(part.pid)), 5)).toBe(true);
  },
  TIMEOUT,
);

it(
  "says which part died and what it said last, stops the rest and exits with 1",
  async () => {
    const started = await runDev(temporaryDirectory(), String(await freePort()));
    const restate = started.ready.parts.find((part) => part.name === "restate");
    process.kill(restate?.pid ?? 0, "SIGKILL");
    expect((await once(started.child, "exit"))[0]).toBe(1);
    expect(started.said()).toMatch(/restate \(pid \d+\) ended by itself.*became Leader.*stopped postgres/s);
  },
  TIMEOUT,
);

it(
  "two that start at the same moment on the usual port each get one of their own",
  async () => {
    const both = await Promise.all([runDev(temporaryDirectory()), runDev(temporaryDirectory())]);
    for (const { ready } of both) {
      const { GESSO_DEV_KEY } = (await (await fetch(`${ready.url}/environment`)).json()) as Record<string, string>;
      expect(GESSO_DEV_KEY).toBe(ready.api_key);
    }
    expect(new Set(both.map(({ ready }) => ready.url)).size).toBe(2);
  },
  TIMEOUT,
);

it(
  "exits with 2 and a sentence when the port that was asked for is busy",
  async () => {
    const first = await runDev(temporaryDirectory(), String(await freePort()));
    const port = new URL(first.ready.url).port;
    const refused = runDev(temporaryDirectory(), port);
    await expect(refused).rejects.toThrow(`exit 2: gesso dev: Port ${port} is in use by`);
  },
  TIMEOUT,
);
