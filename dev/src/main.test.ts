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

type Started = { child: ChildProcess; stderr: () => string; ready: Ready };
type Ready = { url: string; api_key: string; components: { name: string; pid: number }[] };

async function runDev(...parameters: string[]): Promise<Started> {
  const child = spawn(process.execPath, [RUN, ...parameters], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (typeof line === "number") throw new Error(`exit ${line}: ${stderr}`);
  return { child, stderr: () => stderr, ready: JSON.parse(String(line)) };
}

async function interrupt({ child }: Started): Promise<number> {
  child.kill("SIGINT");
  return (await once(child, "exit"))[0];
}

it("starts, generates an image with the command it shows, stops in order, and reuses its data", async () => {
  const data = temporaryDirectory();
  const first = await runDev(data);
  const { url, api_key: key, components } = first.ready;
  expect(components.map((component) => component.name)).toEqual(["server", "sandbox", "restate", "postgres"]);

  const cwd = temporaryDirectory();
  const shell = spawnSync("sh", ["-c", firstImageCommand({ url, key })], { cwd, encoding: "utf8" });
  expect(shell).toMatchObject({ status: 0, stderr: "" });
  expect(readFileSync(`${cwd}/first.png`, "utf8")).toContain("PNG");

  const environment = await (await fetch(`${url}/environment`)).json();
  expect(environment).toMatchObject({ STORAGE: "disk", PUBLIC_URL: url, GESSO_API_KEY: key, HOST: "127.0.0.1" });
  // A receiver that is being developed runs on the same machine.
  expect(environment).toMatchObject({ WEBHOOK_ALLOW_LOOPBACK: "true" });
  await expect(runDev(data)).rejects.toThrow(`exit 2: gesso dev: The data directory ${data} is in use`);

  expect(await interrupt(first)).toBe(0);
  expect(first.stderr()).toMatch(
    /Stopped server.*Stopped sandbox.*Stopped restate.*Stopped postgres.*Stopped\. The data stays in/s,
  );
  expect(components.filter((component) => isAlive(component.pid))).toEqual([]);

  const second = await runDev(data);
  expect(second.ready).toMatchObject({ url, api_key: key });
  const again = (await (await fetch(`${url}/environment`)).json()) as Record<string, string>;
  for (const name of ["GESSO_SECRET", "DATABASE_URL", "SANDBOX_KEY", "WORKER_PORT"]) {
    expect(again[name]).toBe(environment[name]);
  }
  second.child.kill("SIGKILL");
  expect(await waitUntil(async () => !second.ready.components.some((component) => isAlive(component.pid)), 5)).toBe(
    true,
  );
});

it("reports which component exited and its last log lines, stops the others and exits with 1", async () => {
  const started = await runDev(temporaryDirectory(), String(await freePort()));
  const restate = started.ready.components.find((component) => component.name === "restate");
  process.kill(restate?.pid ?? 0, "SIGKILL");
  expect((await once(started.child, "exit"))[0]).toBe(1);
  expect(started.stderr()).toMatch(/restate \(pid \d+\) exited unexpectedly.*became Leader.*Stopped postgres/s);
});

it("two instances that start at the same time use different ports", async () => {
  const both = await Promise.all([runDev(temporaryDirectory()), runDev(temporaryDirectory())]);
  for (const { ready } of both) {
    const { GESSO_API_KEY } = (await (await fetch(`${ready.url}/environment`)).json()) as Record<string, string>;
    expect(GESSO_API_KEY).toBe(ready.api_key);
  }
  expect(new Set(both.map(({ ready }) => ready.url)).size).toBe(2);
});

it("exits with 2 and an error message when the requested port is busy", async () => {
  const first = await runDev(temporaryDirectory(), String(await freePort()));
  const port = new URL(first.ready.url).port;
  const second = runDev(temporaryDirectory(), port);
  await expect(second).rejects.toThrow(`exit 2: gesso dev: Port ${port} is in use by`);
});
