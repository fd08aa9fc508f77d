// Customers of the fairness campaigns: some flood, some come now and then, some come at twice the rate they may.
import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";

export type LoadClient = { url: string; key: string };
export type TimedResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: any;
  ms: number;
};

export const REQUEST_BODY = { prompt: "[sandbox:delay=0] fairness", width: 64, height: 64, seed: 1 };

export function createLoadSender({ url, key }: LoadClient, connections = 8) {
  const dispatcher = new Agent({ connections, headersTimeout: 120_000, bodyTimeout: 120_000 });
  return async (method: "GET" | "POST", path: string, order?: unknown): Promise<TimedResponse> => {
    const startedAt = performance.now();
    const response = await request(`${url}/api/v1${path}`, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${key}`, ...(order !== undefined && { "content-type": "application/json" }) },
      ...(order !== undefined && { body: JSON.stringify(order) }),
    });
    const body = await response.body.json();
    return { status: response.statusCode, headers: response.headers, body, ms: performance.now() - startedAt };
  };
}

/** Posts `count` runs as fast as they are accepted. */
export async function postAsFastAsPossible(customer: LoadClient, count: number, atOnce: number): Promise<string[]> {
  const say = createLoadSender(customer, atOnce);
  const ids: string[] = [];
  let next = 0;
  const post = async () => {
    while (next++ < count) {
      const { status, headers, body } = await say("POST", "/runs/generate", REQUEST_BODY);
      if (status === 503) {
        next--;
        await pause(Number(headers["retry-after"]) * 1000);
        continue;
      }
      if (status !== 202) throw new Error(`the flood was answered ${status} ${JSON.stringify(body)}`);
      ids.push(body.run_id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, post));
  return ids;
}

/** Repeats a task at a steady rate, however long each takes; returns the results. */
export async function atFixedRate<T>(perSecond: number, seconds: number, work: () => Promise<T>): Promise<T[]> {
  const pending: Promise<T>[] = [];
  const startedAt = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const dueMs = startedAt + (n * 1000) / perSecond - performance.now();
    if (dueMs > 0) await pause(dueMs);
    pending.push(work());
  }
  return Promise.all(pending);
}

export async function waitUntil(isSo: () => Promise<boolean>, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`condition not met within ${seconds} s`);
    await pause(100);
  }
}
