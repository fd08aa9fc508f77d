// Posts runs at a steady rate, whatever happens. Each message of the parent ends a window: the reply has the latencies
// and the refusals of the requests that began in it. `healthy-clients.ts URL KEY PER_SECOND`
//
// Requests use open connections, like those of a reverse proxy. Each second, one more request opens a connection of its
// own: Node accepts few connections in one turn of its event loop, so that it may wait behind those of an attacker.
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, type Dispatcher, request } from "undici";

export type HealthyWindow = { ms: number[]; newConnectionMs: number[]; refused: string[] };

const [, , url = "", key = "", perSecond = "50"] = process.argv;
const BODY = JSON.stringify({ prompt: "[sandbox:delay=0] healthy", width: 64, height: 64, seed: 1 });
const CONNECTIONS = 16;
const openConnections = new Agent({ connections: CONNECTIONS, keepAliveTimeout: 60_000 });

type PendingWindow = HealthyWindow & { pending: Set<Promise<void>> };
const openWindow = (): PendingWindow => ({ ms: [], newConnectionMs: [], refused: [], pending: new Set() });
let current = openWindow();

async function post(refused: string[], ms: number[], dispatcher: Dispatcher): Promise<void> {
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

async function postOverNewConnection({ refused, newConnectionMs }: HealthyWindow): Promise<void> {
  const client = new Client(url);
  await post(refused, newConnectionMs, client);
  await client.close();
}

process.on("message", async () => {
  const { ms, newConnectionMs, refused, pending } = current;
  current = openWindow();
  await Promise.all(pending);
  process.send?.({ ms, newConnectionMs, refused });
});
process.on("disconnect", () => process.exit());

await Promise.all(Array.from({ length: CONNECTIONS }, () => post(current.refused, current.ms, openConnections)));
const startedAt = performance.now();
for (let n = 0; ; n++) {
  const dueMs = startedAt + (n * 1000) / Number(perSecond) - performance.now();
  if (dueMs > 0) await pause(dueMs);
  const { pending, refused, ms } = current;
  const track = (work: Promise<void>) => {
    const sent = work.finally(() => pending.delete(sent));
    pending.add(sent);
  };
  track(post(refused, ms, openConnections));
  if (n % Number(perSecond) === 0) track(postOverNewConnection(current));
}
