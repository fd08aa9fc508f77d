// One tenant floods the queue while another comes now and then; and two flood it with unequal weights. What is measured
// is in the database: when a run was accepted and when it began.
import { percentile } from "../bench/full-service.ts";
import type { CampaignReport } from "../support/campaign.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { atFixedRate, createLoadSender, postAsFastAsPossible, REQUEST_BODY, waitUntil } from "./load-clients.ts";

const NEARLY = 0.05;
const QUEUED_FIRST_SHARE = 0.75;

/** `mostSeconds`: a short campaign on a busy machine is not timed as closely as a long one. */
export type NoisyNeighbourSize = { runs: number; seconds: number; perSecond: number; maxStartSeconds: number };

export async function measureNoisyNeighbour(size: NoisyNeighbourSize): Promise<CampaignReport> {
  const environment = await startTestEnvironment({ roles: "split", secondWorker: true, env: { LOG_LEVEL: "error" } });
  try {
    const [loud, quiet] = [await createTestTenant(environment), await createTestTenant(environment)];
    const measureStartDelays = async () => {
      const say = createLoadSender({ url: environment.url, key: quiet.key });
      const responses = await atFixedRate(size.perSecond, size.seconds, () =>
        say("POST", "/runs/generate", REQUEST_BODY),
      );
      return startDelays(
        environment,
        responses.map(({ body }) => body.run_id),
      );
    };
    await postAsFastAsPossible({ url: environment.url, key: quiet.key }, 20, 4);
    const alone = await measureStartDelays();
    // Most runs are queued before the worker starts, so that the queue outlasts the measurement; the rest arrives with
    // those of the quiet tenant.
    await Promise.all([environment.stopGracefully("worker"), environment.stopGracefully("worker2")]);
    await postAsFastAsPossible({ url: environment.url, key: loud.key }, size.runs * QUEUED_FIRST_SHARE, 24);
    await Promise.all([environment.start("worker"), environment.start("worker2")]);
    const flooding = postAsFastAsPossible(
      { url: environment.url, key: loud.key },
      size.runs * (1 - QUEUED_FIRST_SHARE),
      24,
    );
    const beside = await measureStartDelays();
    const left = await countQueued(environment, loud.tenant_id);
    await flooding.catch(() => {});
    const [own] = await environment.query<{ longest: number }>(
      "select max(extract(epoch from started_at - created_at))::float as longest from runs where tenant_id = $1",
      [loud.tenant_id],
    );
    const p99 = percentile(beside, 0.99);
    return {
      name: `${size.runs} runs of one tenant, ${size.perSecond} a second of another`,
      notes: [
        `accept to start of the quiet one, alone:           ${formatPercentiles(alone)}`,
        `accept to start of the quiet one, beside the flood: ${formatPercentiles(beside)}`,
        `the flood waited up to ${own!.longest.toFixed(1)} s; ${left} of it were still queued when the quiet one had ended`,
      ],
      results: [
        {
          invariant: "the quiet tenant was measured while the other had a queue",
          passed: left > 0,
          observed: `${left} queued`,
        },
        {
          invariant: "runs of the quiet tenant wait at most a fifth as long as those of the flood, p99",
          passed: p99 < own!.longest / 5,
          observed: `${p99.toFixed(2)} s of ${own!.longest.toFixed(1)} s`,
        },
        {
          kind: "speed",
          invariant: `runs of the quiet tenant start within ${size.maxStartSeconds} s, p99`,
          passed: p99 < size.maxStartSeconds,
          observed: `${(p99 * 1000).toFixed(0)} ms of ${beside.length}`,
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}

export async function weightedShares({ runs }: { runs: number }): Promise<CampaignReport> {
  const environment = await startTestEnvironment({ roles: "split", secondWorker: true, env: { LOG_LEVEL: "error" } });
  try {
    const heavy = await createTestTenant(environment, { tenant: { weight: 3 } });
    const light = await createTestTenant(environment);
    // Both queues are filled before the worker starts.
    await Promise.all([environment.stopGracefully("worker"), environment.stopGracefully("worker2")]);
    await postAsFastAsPossible({ url: environment.url, key: heavy.key }, runs, 24);
    await postAsFastAsPossible({ url: environment.url, key: light.key }, runs, 24);
    await Promise.all([environment.start("worker"), environment.start("worker2")]);
    await waitUntil(async () => (await countStarted(environment, heavy.tenant_id)) >= runs / 2, 300);
    const [ofHeavy, ofLight] = await shareOf(environment, [heavy.tenant_id, light.tenant_id]);
    const ratio = ofHeavy / ofLight;
    return {
      name: `two tenants with ${runs} runs each, weights 3 and 1, two workers`,
      notes: [],
      results: [
        {
          invariant: "the tenants get 3 to 1 of the capacity, within 5 %",
          passed: Math.abs(ratio / 3 - 1) <= NEARLY,
          observed: `${ofHeavy} to ${ofLight}, ${ratio.toFixed(3)} to 1`,
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}

/** Both at the same moment, and only while both still have a queue. */
async function shareOf(environment: TestEnvironment, tenants: string[]): Promise<[number, number]> {
  const rows = await environment.query<{ tenant_id: string; count: number }>(
    "select tenant_id, count(*)::int from runs where started_at is not null and tenant_id = any($1) group by 1",
    [tenants],
  );
  const of = (id: string) => rows.find((row) => row.tenant_id === id)?.count ?? 0;
  return [of(tenants[0]!), of(tenants[1]!)];
}

const countOf = async (environment: TestEnvironment, text: string, tenantId: string) => {
  const [row] = await environment.query<{ count: number }>(text, [tenantId]);
  return row!.count;
};
const countQueued = (environment: TestEnvironment, tenantId: string) =>
  countOf(environment, "select count(*)::int from open_runs where tenant_id = $1 and dispatched_at is null", tenantId);
const countStarted = (environment: TestEnvironment, tenantId: string) =>
  countOf(environment, "select count(*)::int from runs where tenant_id = $1 and started_at is not null", tenantId);

/** Seconds from acceptance to the beginning, for each. */
async function startDelays(environment: TestEnvironment, runIds: string[]): Promise<number[]> {
  const read = () =>
    environment.query<{ seconds: number | null }>(
      "select extract(epoch from started_at - created_at)::float as seconds from runs where run_id = any($1)",
      [runIds],
    );
  await waitUntil(async () => (await read()).every(({ seconds }) => seconds !== null), 120);
  return (await read()).map(({ seconds }) => seconds!);
}

const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
const formatPercentiles = (values: number[]) =>
  `p50 ${ms(percentile(values, 0.5))}, p90 ${ms(percentile(values, 0.9))}, p99 ${ms(percentile(values, 0.99))}, longest ${ms(Math.max(...values))} (${values.length} runs)`;
