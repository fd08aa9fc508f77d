import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { findPortOwner } from "./port-owner.ts";
import { freePort } from "./ports.ts";

async function occupy(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

it("returns the preferred port when it is free", async () => {
  const port = await freePort();
  expect(await freePort(port)).toBe(port);
});

it("returns a higher port when the preferred one is busy", async () => {
  const port = await freePort();
  await occupy(port);
  expect(await freePort(port)).toBeGreaterThan(port);
});

it("waits up to the given seconds for the preferred port", async () => {
  const port = await freePort();
  const server = await occupy(port);
  setTimeout(() => server.close(), 200);
  expect(await freePort(port, 5)).toBe(port);
});

it("never returns a port that another process has reserved", async () => {
  const program = `import { freePort } from ${JSON.stringify(import.meta.resolve("./ports.ts"))};
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 900 }, () => freePort()))));
    setInterval(() => {}, 1000)`;
  const asked = Array.from({ length: 4 }, async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
    onTestFinished(() => void child.kill());
    return JSON.parse(String((await once(createInterface(child.stdout), "line"))[0])) as number[];
  });
  const ports = (await Promise.all(asked)).flat();
  expect(new Set(ports).size).toBe(3600);
});

it("stays below the range of ephemeral ports", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  expect(Math.max(...ports)).toBeLessThan(32_768);
  expect(Math.min(...ports)).toBeGreaterThan(1024);
});

it.runIf(process.platform === "linux")("names the program that listens on a port", async () => {
  const port = await freePort();
  expect(findPortOwner(port)).toBeUndefined();
  await occupy(port);
  expect(findPortOwner(port)).toBe(`node (pid ${process.pid})`);
});
