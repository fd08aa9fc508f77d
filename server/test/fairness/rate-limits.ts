// Rate limits over four API processes that share one limit: ten tenants at twice their limit, and one within its limit.
import { setTimeout as pause } from "node:timers/promises";
import type { CampaignReport } from "../support/campaign.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { atFixedRate, createLoadSender, type TimedResponse } from "./load-clients.ts";

const PROCESSES = 4;
const CLIENTS = 10;
const TOLERANCE = 0.02;

export async function rateLimitCampaign({
  perMinute,
  seconds,
}: {
  perMinute: number;
  seconds: number;
}): Promise<CampaignReport> {
  const environment = await startTestEnvironment({ roles: "split", apis: PROCESSES, env: { LOG_LEVEL: "error" } });
  try {
    const limits = { requests_per_minute: perMinute };
    await warmUp(environment);
    const { key } = await createTestTenant(environment, { tenant: { limits } });
    const clients = Array.from({ length: CLIENTS }, (_, n) =>
      createLoadSender({ url: environment.urls[n % PROCESSES]!, key }, 16),
    );
    const ask = (n: number) => clients[n % CLIENTS]!("GET", "/runs?limit=1");

    const startedAt = performance.now();
    const emptied = await Promise.all(clients.map((_, n) => requestUntilRateLimited(() => ask(n))));
    // The first is measured as one piece with what came before: the bucket was full when it began.
    const pressed = await atFixedRate((2 * perMinute) / 60, seconds, pickClient(ask));
    const elapsed = (performance.now() - startedAt) / 1000;

    const all = [...emptied.flat(), ...pressed];
    const accepted = all.filter(({ status }) => status === 200).length;
    const allowed = perMinute + (perMinute / 60) * elapsed;
    const refused = all.filter(({ status }) => status === 429);
    const obeyed = await followRateLimitHeaders(() => ask(0), Math.min(10, seconds / 2));
    const questions = await environment.query<{ calls: number }>(
      "select coalesce(sum(n_tup_upd), 0)::int as calls from pg_stat_user_tables where relname = 'token_buckets'",
    );
    const observed = `${accepted} of ${allowed.toFixed(0)}, ${((accepted / allowed - 1) * 100).toFixed(2)} %`;
    return {
      name: `${perMinute} requests a minute, ${PROCESSES} API processes, ${CLIENTS} clients at twice that for ${seconds} s`,
      notes: [
        `${all.length} requests: ${accepted} answered, ${refused.length} refused; ${questions[0]!.calls} questions to the database for them`,
      ],
      results: [
        {
          invariant: "no more requests are accepted than the limit allows, within 2 %",
          passed: accepted / allowed - 1 <= TOLERANCE,
          observed,
        },
        {
          invariant: "as many requests are accepted as the limit allows, within 2 %",
          kind: "speed",
          passed: accepted / allowed - 1 >= -TOLERANCE,
          observed,
        },
        {
          invariant: "every 429 has a Retry-After that is not too early",
          passed: refused.length > 0 && refused.every(hasValidRetryAfter),
          observed: `${refused.length} rejected`,
        },
        {
          invariant: "every response has the remaining requests, never negative",
          passed: all.every((response) => leftOf(response) >= 0),
          observed: `minimum ${Math.min(...all.map(leftOf))}`,
        },
        {
          invariant: "a client that honours the headers is never rejected",
          passed: obeyed.length > 1 && obeyed.every(({ status }) => status === 200),
          observed: `${obeyed.length} requests, ${obeyed.filter(({ status }) => status !== 200).length} refused`,
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}

/** A full bucket takes in nothing, so the first requests must not wait for processes that are still cold. */
async function warmUp(environment: TestEnvironment): Promise<void> {
  const { key } = await createTestTenant(environment);
  const clients = environment.urls.map((url) => createLoadSender({ url, key }));
  for (let round = 0; round < 20; round++) await Promise.all(clients.map((ask) => ask("GET", "/runs?limit=1")));
}

/** Each request by the next client. */
function pickClient(ask: (n: number) => Promise<TimedResponse>): () => Promise<TimedResponse> {
  let next = 0;
  return () => ask(next++);
}

async function requestUntilRateLimited(ask: () => Promise<TimedResponse>): Promise<TimedResponse[]> {
  const responses: TimedResponse[] = [];
  for (;;) {
    const response = await ask();
    responses.push(response);
    if (response.status !== 200) return responses;
  }
}

const readRateLimitHeader = (response: TimedResponse, name: "r" | "t") =>
  Number(new RegExp(`"requests";.*?\\b${name}=(-?\\d+)`).exec(String(response.headers.ratelimit))?.[1] ?? Number.NaN);
const leftOf = (response: TimedResponse) => readRateLimitHeader(response, "r");

const hasValidRetryAfter = (response: TimedResponse) => {
  const after = Number(response.headers["retry-after"]);
  return (
    response.body.code === "rate_limited" && Number.isInteger(after) && after >= readRateLimitHeader(response, "t")
  );
};

/** Waits whenever the response says that nothing is left. */
async function followRateLimitHeaders(ask: () => Promise<TimedResponse>, seconds: number): Promise<TimedResponse[]> {
  await pause(3000);
  const responses: TimedResponse[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const response = await ask();
    responses.push(response);
    if (leftOf(response) < 1) await pause(readRateLimitHeader(response, "t") * 1000);
  }
  return responses;
}
