// Clients of a campaign: each posts one run under one idempotency key and retries until it has a response.
import { randomUUID } from "node:crypto";
import type { TestEnvironment } from "../support/test-environment.ts";

/** How a vendor can be asked about a lost response: by our idempotency key, by look-up, or not at all. */
export const MODEL_BY_RECOVERY_CLASS = { A: "flux-dev", B: "qwen-image-edit", C: "vendora" } as const;
export type RecoveryClass = keyof typeof MODEL_BY_RECOVERY_CLASS;

export type PostedRun = { run_id: string; key: string; class: RecoveryClass; answers: Set<string> };

export type RunRequestSpec = { class: RecoveryClass; prompt: string };

export async function postRun(
  environment: TestEnvironment,
  order: RunRequestSpec,
  timeoutSeconds = 90,
): Promise<PostedRun> {
  const key = randomUUID();
  const responses = new Set<string>();
  const until = Date.now() + timeoutSeconds * 1000;
  for (;;) {
    const run_id = await postOnce(environment, order, key);
    if (run_id) {
      responses.add(run_id);
      return { run_id, key, class: order.class, answers: responses };
    }
    if (Date.now() > until) throw new Error("the API did not take the run in time");
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

async function postOnce(environment: TestEnvironment, order: RunRequestSpec, key: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${environment.url}/api/v1/runs/generate`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${environment.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({
        prompt: order.prompt,
        model_type: MODEL_BY_RECOVERY_CLASS[order.class],
        width: 64,
        height: 64,
      }),
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status !== 202 && response.status !== 200) {
      if (response.status < 500) throw new Error(`refused: ${response.status} ${await response.text()}`);
      return undefined;
    }
    return ((await response.json()) as { run_id: string }).run_id;
  } catch (thrown) {
    if (String(thrown).includes("refused:")) throw thrown;
    return undefined;
  }
}

/** Posts runs one after the other at a steady rate until stopped. */
export async function postWhile(
  environment: TestEnvironment,
  goesOn: () => boolean,
  perSecond: number,
  orderOf: (index: number) => RunRequestSpec,
): Promise<PostedRun[]> {
  const posts: Promise<PostedRun>[] = [];
  for (let index = 0; goesOn(); index++) {
    posts.push(postRun(environment, orderOf(index)));
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
  }
  return Promise.all(posts);
}

export function postAtRate(
  environment: TestEnvironment,
  orders: RunRequestSpec[],
  perSecond: number,
): Promise<PostedRun[]> {
  let left = orders.length;
  return postWhile(
    environment,
    () => left-- > 0,
    perSecond,
    (index) => orders[index]!,
  );
}

export async function countOpenRuns(environment: TestEnvironment): Promise<number> {
  const rows = await environment
    .query<{ count: number }>("select count(*)::int from open_runs")
    .catch(() => [{ count: -1 }]);
  return rows[0]!.count;
}

export async function waitUntilAllEnded(environment: TestEnvironment, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while ((await countOpenRuns(environment)) !== 0) {
    if (Date.now() > until) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
