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

const calm = { waitSeconds: 0, log: () => {} };

it("reuses the ports of the last start and never allocates a port twice", async () => {
  const first = await allocatePorts({ ...calm, remembered: { api: await freePort() } });
  expect(new Set(Object.values(first)).size).toBe(7);
  expect(await allocatePorts({ ...calm, remembered: first })).toEqual(first);
  const conflicting = await allocatePorts({
    ...calm,
    remembered: { api: first.api, worker: first.api, sandbox: first.api },
  });
  expect(new Set(Object.values(conflicting)).size).toBe(7);
});

it("uses the next port and logs it when the default port is busy", async () => {
  const api = await busyPort();
  const lines: string[] = [];
  const plan = await allocatePorts({ ...calm, remembered: { api }, log: (line) => lines.push(line) });
  expect(plan.api).toBeGreaterThan(api);
  expect(lines.join()).toContain(`Port ${api} is in use by`);
});

it("fails when the requested port is busy", async () => {
  const port = await busyPort();
  const outcome = await allocatePorts({ ...calm, port, remembered: {} }).catch((error: unknown) => error);
  expect(isUsageError(outcome)).toBe(true);
});
