import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { allocatePorts } from "./port-plan.ts";
import { freePort } from "./ports.ts";
import { isUsageError } from "./usage-error.ts";

async function busyPort(): Promise<number> {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return port;
}

const calm = { patienceSeconds: 0, log: () => {} };

it("takes the ports of last time again, and never one port twice", async () => {
  const first = await allocatePorts({ ...calm, remembered: { api: await freePort() } });
  expect(new Set(Object.values(first)).size).toBe(7);
  expect(await allocatePorts({ ...calm, remembered: first })).toEqual(first);
  const muddled = await allocatePorts({
    ...calm,
    remembered: { api: first.api, worker: first.api, sandbox: first.api },
  });
  expect(new Set(Object.values(muddled)).size).toBe(7);
});

it("moves on to the next port when nobody asked for this one, and says so", async () => {
  const api = await busyPort();
  const lines: string[] = [];
  const plan = await allocatePorts({ ...calm, remembered: { api }, log: (line) => lines.push(line) });
  expect(plan.api).toBeGreaterThan(api);
  expect(lines.join()).toContain(`Port ${api} is in use by`);
});

it("refuses when the port that was asked for is busy", async () => {
  const port = await busyPort();
  const outcome = await allocatePorts({ ...calm, port, remembered: {} }).catch((error: unknown) => error);
  expect(isUsageError(outcome)).toBe(true);
});
