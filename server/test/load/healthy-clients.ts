// Posts runs at a steady rate, whatever happens. Each message of the parent ends a window: the reply has the latencies
// and the refusals of the requests that began in it. `healthy-clients.ts URL KEY PER_SECOND`
import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";

export type HealthyWindow = { ms: number[]; refused: string[] };

const [, , url = "", key = "", perSecond = "50"] = process.argv;
const BODY = JSON.stringify({ prompt: "[sandbox:delay=0] healthy", width: 64, height: 64, seed: 1 });
const dispatcher = new Agent({ connections: 64 });

type PendingWindow = HealthyWindow & { pending: Set<Promise<void>> };
const openWindow = (): PendingWindow => ({ ms: [], refused: [], pending: new Set() });
let current = openWindow();

async function post({ ms, refused }: HealthyWindow): Promise<void> {
  const startedAt = performance.now();
  try {
    const response = await request(`${url}/api/v1/runs/generate`, {
      method: "POST",
      dispatcher,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: BODY,
    });
    const text = await response.body.text();
    if (response.statusCode !== 202) refused.push(`${response.statusCode} ${text.slice(0, 200)}`);
  } catch (thrown) {
    refused.push(String(thrown));
  }
  ms.push(performance.now() - startedAt);
}

process.on("message", async () => {
  const { ms, refused, pending } = current;
  current = openWindow();
  await Promise.all(pending);
  process.send?.({ ms, refused });
});
process.on("disconnect", () => process.exit());

const startedAt = performance.now();
for (let n = 0; ; n++) {
  const dueMs = startedAt + (n * 1000) / Number(perSecond) - performance.now();
  if (dueMs > 0) await pause(dueMs);
  const { pending } = current;
  const sent = post(current).finally(() => pending.delete(sent));
  pending.add(sent);
}
