import { expect, it } from "vitest";
import { add, serveCounter } from "../test/counter.ts";
import { killedAtEnd, scratchDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { startRestate } from "./restate.ts";

it("keeps its services, state and answers through kill -9 and starts again on the same ports", async () => {
  const options = { dataDir: scratchDirectory(), ingressPort: await freePort(), adminPort: await freePort() };
  const first = killedAtEnd(await startRestate(options));
  await serveCounter(first.adminUrl);
  expect(await add(first.ingressUrl, 1, "a")).toBe(1);
  expect(await add(first.ingressUrl, 2, "b")).toBe(3);
  await first.kill();

  const second = killedAtEnd(await startRestate(options));
  expect(second.ingressUrl).toBe(first.ingressUrl);
  expect(await add(second.ingressUrl, 2, "b")).toBe(3);
  expect(await add(second.ingressUrl, 4, "c")).toBe(7);
  await second.stop();
  expect(await second.exited).toBe(0);
}, 60_000);
