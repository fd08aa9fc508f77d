import { expect, it } from "vitest";
import { addToCounter, serveCounter } from "../test/counter.ts";
import { killAfterTest, temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { startRestate } from "./restate.ts";

it("keeps services, state and idempotent results through kill -9 and a restart on the same ports", async () => {
  const options = { dataDir: temporaryDirectory(), ingressPort: await freePort(), adminPort: await freePort() };
  const first = killAfterTest(await startRestate(options));
  await serveCounter(first.adminUrl);
  expect(await addToCounter(first.ingressUrl, 1, "a")).toBe(1);
  expect(await addToCounter(first.ingressUrl, 2, "b")).toBe(3);
  await first.kill();

  const second = killAfterTest(await startRestate(options));
  expect(second.ingressUrl).toBe(first.ingressUrl);
  expect(await addToCounter(second.ingressUrl, 2, "b")).toBe(3);
  expect(await addToCounter(second.ingressUrl, 4, "c")).toBe(7);
  await second.stop();
  expect(await second.exited).toBe(0);
});
