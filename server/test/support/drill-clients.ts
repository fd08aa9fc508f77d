// Clients of a drill: each posts one run with one idempotency key and retries it at every API URL until it is accepted.
// Records when requests were refused.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { readSandboxLedger } from "./api-caller.ts";
import type { CheckResult } from "./campaign.ts";
import type { TestEnvironment } from "./test-environment.ts";

const RETRY_MS = 250;
const GIVE_UP_SECONDS = 90;
const REQUEST_MS = 10_000;

export type DrillClients = {
  /** Posts runs with these prompts at a steady rate; resolves with their IDs when all are accepted. */
  post(prompts: string[], perSecond: number): Promise<string[]>;
  /** The API processes that clients use now. */
  urls: string[];
  accepted: string[];
  /** When each run was accepted, in milliseconds since the epoch. */
  acceptedAt: number[];
  /** Times of refused requests, in milliseconds since the epoch. */
  refusals: { at: number; status: string }[];
};

export function createDrillClients(environment: TestEnvironment): DrillClients {
  const clients: DrillClients = { post, urls: [environment.url], accepted: [], acceptedAt: [], refusals: [] };
  let turn = 0;

  async function postOnce(prompt: string, key: string): Promise<string | undefined> {
    const url = clients.urls[turn++ % clients.urls.length]!;
    const response = await fetch(`${url}/api/v1/runs/generate`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${environment.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ prompt, model_type: "flux-dev", width: 64, height: 64 }),
      signal: AbortSignal.timeout(REQUEST_MS),
    }).catch((thrown) => thrown as Error);
    if (response instanceof Error) {
      clients.refusals.push({ at: Date.now(), status: response.name });
      return undefined;
    }
    const text = await response.text();
    if (response.ok) return (JSON.parse(text) as { run_id: string }).run_id;
    if (response.status < 500 && response.status !== 429) throw new Error(`refused: ${response.status} ${text}`);
    const { code } = JSON.parse(text) as { code?: string };
    clients.refusals.push({ at: Date.now(), status: `${response.status} ${code}` });
    return undefined;
  }

  async function postUntilAccepted(prompt: string): Promise<string> {
    const key = randomUUID();
    const until = Date.now() + GIVE_UP_SECONDS * 1000;
    for (;;) {
      const runId = await postOnce(prompt, key);
      if (runId) {
        clients.accepted.push(runId);
        clients.acceptedAt.push(Date.now());
        return runId;
      }
      if (Date.now() > until) throw new Error("no API accepted the run in time");
      await sleep(RETRY_MS);
    }
  }

  async function post(prompts: string[], perSecond: number): Promise<string[]> {
    const startedAt = performance.now();
    return Promise.all(
      prompts.map(async (prompt, index) => {
        await sleep(Math.max(0, (index * 1000) / perSecond - (performance.now() - startedAt)));
        return postUntilAccepted(prompt);
      }),
    );
  }
  return clients;
}

/** Waits until no run is open, for at most this time. */
export async function waitUntilNoneOpen(environment: TestEnvironment, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    const [row] = await environment.query<{ open: number }>("select count(*)::int as open from open_runs");
    if (row!.open === 0) return;
    await sleep(250);
  }
}

/** Every accepted run exists, is completed once, and was submitted to the vendor once. */
export async function checkAcceptedRuns(environment: TestEnvironment, accepted: string[]): Promise<CheckResult[]> {
  const runs = await environment.query<{ run_id: string; status: string; code: string | null; ends: number }>(
    `select run_id, status, error ->> 'code' as code,
       (select count(*)::int from events where events.run_id = runs.run_id and terminal) as ends
     from runs where run_id = any($1::uuid[])`,
    [accepted],
  );
  const ledger = await readSandboxLedger(environment);
  const jobCounts = new Map<string, number>();
  for (const { reference } of ledger) {
    const runId = reference?.split(".")[0] ?? "";
    jobCounts.set(runId, (jobCounts.get(runId) ?? 0) + 1);
  }
  const others = runs.filter(({ status }) => status !== "completed");
  const distinct = new Set(accepted).size;
  const twice = accepted.filter((runId) => (jobCounts.get(runId) ?? 0) > 1);
  const unsent = accepted.filter((runId) => !jobCounts.has(runId));
  const known = new Set(accepted);
  const strays = [...jobCounts.keys()].filter((runId) => !known.has(runId));
  const result = (invariant: string, passed: boolean, observed: string) => ({ invariant, passed, observed });
  return [
    result("no accepted run is lost", runs.length === distinct, `${runs.length} of ${distinct}`),
    result(
      "every run has completed",
      others.length === 0 && runs.length > 0,
      `${runs.length - others.length} of ${runs.length} ${JSON.stringify(others.slice(0, 3))}`,
    ),
    result(
      "each run has one end",
      runs.every(({ ends }) => ends === 1),
      `${runs.length} runs`,
    ),
    result(
      "no run was submitted twice",
      twice.length === 0,
      `${twice.length} twice, vendor counts ${ledger.length} jobs`,
    ),
    result("every run was submitted", unsent.length === 0, `${unsent.length} not`),
    result("every job of the vendor belongs to an accepted run", strays.length === 0, `${strays.length} others`),
  ];
}
