// `npm run bench -- attribution`: what accepting a run costs when each of 100,000 end users has a spending limit from
// one template, against runs of the same end users without limits, in turns; how long usage by customer takes over a
// million runs; and that parallel callers of one end user never exceed its limit.
import { attributedHolderId } from "../../src/db/money/attributed-holders.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { percentile } from "./full-service.ts";

const TENANT_ID = "00000000-0000-7000-8000-000000000001";
const END_USERS = 100_000;
const ROUNDS = 7;
const POSTS = 400;
const AT_ONCE = 8;
const CALLERS = 64;
const RACES = 200;
const CUSTOMERS = 1000;
const DAYS = 30;
const RUNS_PER_SUM = 12;

type Response = { status: number; body: Record<string, unknown> };
type Send = (method: string, path: string, body?: object) => Promise<Response>;

const createSender =
  ({ url, key }: TestEnvironment): Send =>
  async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

const NO_RATE_LIMITS = {
  ...{ TENANT_REQUESTS_PER_MINUTE: "0", TENANT_RUNS_PER_MINUTE: "0", KEY_REQUESTS_PER_MINUTE: "0" },
};
const environment = await startTestEnvironment({
  roles: "split",
  env: {
    LOG_LEVEL: "error",
    GESSO_CONFIG: new URL("../chaos/prices.yaml", import.meta.url).pathname,
    ...NO_RATE_LIMITS,
  },
});
const send = createSender(environment);
try {
  // Runs are accepted, and not executed.
  await environment.kill("worker");
  await measureAcceptance();
  await raceForOneLimit();
  await measureUsage();
} finally {
  await environment.stop();
}

async function measureAcceptance(): Promise<void> {
  const random = createSeededRandom(1);
  const pids = environment.pids() as { api: number; postgres: number };
  const template = { of: { end_user: "*" }, spend_per_day: 1000 };
  const used: Record<"without" | "with", number[]> = { without: [], with: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const kind of round % 2 ? (["without", "with"] as const) : (["with", "without"] as const)) {
      const budget = kind === "with" ? (await send("POST", "/budgets", template)).body.id : undefined;
      if (kind === "with") await insertCopies();
      await environment.query("vacuum analyze budgets");
      const { cpu } = await measureCpu({ api: pids.api, postgres: pids.postgres }, () =>
        inParallel(POSTS, AT_ONCE, async () => {
          const body = { prompt: "a boat", model_type: "flux-dev", end_user: `u${random(END_USERS)}` };
          const { status } = await send("POST", "/runs/generate", body);
          if (status !== 202) throw new Error(`a run was refused: ${status}`);
        }),
      );
      if (round > 0) used[kind].push(((cpu.api! + cpu.postgres!) / POSTS) * 1000);
      if (budget) await send("DELETE", `/budgets/${budget}`);
    }
  }
  for (const [kind, each] of Object.entries(used))
    console.log(
      `accepting a run ${kind} limits: ${percentile(each, 0.5).toFixed(2)} ms of CPU (${each.map((ms) => ms.toFixed(2)).join(", ")})`,
    );
  const ratio = percentile(used.with, 0.5) / percentile(used.without, 0.5);
  console.log(`a limit for each of ${END_USERS} end users costs ${ratio.toFixed(2)} times (goal: 1.1)`);
}

/** As if every end user had run something today. */
async function insertCopies(): Promise<void> {
  const template = attributedHolderId("end_user", "*");
  const values = Array.from({ length: END_USERS }, (_, number) => `u${number}`);
  await environment.query(
    `insert into budgets (tenant_id, holder_id, of_kind, of_value, template_id, created_at, day_limit)
     select $1, id, 'end_user', value, $2, now(), 1000000000 from unnest($3::uuid[], $4::text[]) as copy (id, value)`,
    [TENANT_ID, template, values.map((value) => attributedHolderId("end_user", value)), values],
  );
}

async function raceForOneLimit(): Promise<void> {
  await send("POST", "/budgets", { of: { end_user: "*" }, spend_per_day: 1 });
  let [accepted, exceeded] = [0, 0];
  for (let round = 0; round < RACES; round++) {
    const statuses: number[] = [];
    await inParallel(CALLERS, CALLERS, async () => {
      const body = { prompt: "a boat", model_type: "flux-dev", end_user: `racer-${round}` };
      statuses.push((await send("POST", "/runs/generate", body)).status);
    });
    const paid = statuses.filter((status) => status === 202).length;
    const unexpected = statuses.filter((status) => ![202, 402].includes(status));
    if (unexpected.length > 0) throw new Error(`unexpected responses: ${unexpected}`);
    accepted += paid;
    if (paid * 0.03 > 1 || paid !== 33) exceeded++;
  }
  console.log(
    `${RACES} rounds of ${CALLERS} parallel callers of one end user with 1.00 USD: ${accepted} runs of 0.03 accepted, ` +
      `${exceeded} rounds other than 33 runs (goal: 0)`,
  );
}

async function measureUsage(): Promise<void> {
  await environment.query(
    `insert into attributed_usage (tenant_id, day, of_kind, of_value, model, completed, failed, canceled, unpriced, amount)
     select $1, current_date - day, 'customer', 'c' || customer, 'm' || model, $4, 1, 0, 0, 0.48
     from generate_series(0, $2 - 1) as day, generate_series(1, $3) as customer, generate_series(1, 3) as model`,
    [TENANT_ID, DAYS, CUSTOMERS, RUNS_PER_SUM - 1],
  );
  await environment.query("vacuum analyze attributed_usage");
  for (const by of ["customer", "customer,model", "customer,day"]) {
    const times: number[] = [];
    let rows = 0;
    for (let round = 0; round < 10; round++) {
      const startedAt = performance.now();
      const { status, body } = await send("GET", `/usage?by=${by}`);
      times.push(performance.now() - startedAt);
      rows = status === 200 ? (body.data as unknown[]).length : -status;
    }
    console.log(
      `usage by ${by} over ${CUSTOMERS * DAYS * 3 * RUNS_PER_SUM} runs: p50 ${percentile(times, 0.5).toFixed(0)} ms, ${rows} rows`,
    );
  }
}

async function inParallel(count: number, atOnce: number, work: () => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next++ < count) await work();
    }),
  );
}
