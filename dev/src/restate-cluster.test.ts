import { expect, it, onTestFinished } from "vitest";
import { addToCounter, serveCounter } from "../test/counter.ts";
import { temporaryDirectory } from "../test/scratch.ts";
import { freePort } from "./ports.ts";
import { waitUntil } from "./readiness-probe.ts";
import { startRestateCluster } from "./restate-cluster.ts";

/** During a leader change calls may be refused or lost; the idempotency key makes a retry safe. */
async function addWithRetry(ingressUrl: string, amount: number, key: string): Promise<number | undefined> {
  let sum: number | undefined;
  await waitUntil(async () => {
    sum = await addToCounter(ingressUrl, amount, key).catch(() => undefined);
    return sum !== undefined;
  }, 300);
  return sum;
}

it("keeps working when any one of three nodes is killed, and the node rejoins", async () => {
  const cluster = await startRestateCluster({ dataDir: temporaryDirectory(), basePort: await freePort() });
  onTestFinished(async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()));
  });
  await serveCounter(cluster.nodes[0]!.adminUrl);
  let sum = 0;
  const addThroughAll = async (round: string, without?: number) => {
    for (const [index, node] of cluster.nodes.entries()) {
      if (index === without) continue;
      expect(await addWithRetry(node.ingressUrl, 1, `${round} ${index}`)).toBe(++sum);
    }
  };

  await addThroughAll("all three");
  for (const victim of [0, 1, 2]) {
    await cluster.nodes[victim]!.kill();
    await addThroughAll(`without ${victim}`, victim);
    await cluster.start(victim);
    await addThroughAll(`with ${victim} again`);
  }
});
