// `npm run bench -- admission`: what it costs to accept a run with rate limits, the ledger and row-level security,
// beside the same build with all three off, in turns on the same machine. No worker executes the runs: only acceptance
// is measured.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { createRunPoster, percentile } from "./full-service.ts";

const { posts, rounds } = parseArgs({
  options: { posts: { type: "string", default: "1500" }, rounds: { type: "string", default: "5" } },
}).values;
const GOAL = 1.5;
const AT_ONCE = 16;
const PER_SECOND = 40;
const SECONDS = 5;

type Variant = { name: string; world: TestEnvironment; key: string; cpuMs: number[]; acceptMs: number[] };

const folder = mkdtempSync(join(tmpdir(), "gesso-admission-"));
const catalogue = join(folder, "gesso.yaml");
writeFileSync(catalogue, "models:\n  flux-dev:\n    - { provider: sandbox, price: 0.001 }\n");

/**
 * Rates of tenant and key, a price, a prepaid balance with a limit for the day, and every statement held to its tenant.
 */
async function startWithLimits(): Promise<Variant> {
  const environment = await startTestEnvironment({
    roles: "split",
    env: { LOG_LEVEL: "error", GESSO_CONFIG: catalogue },
  });
  const limits = { requests_per_minute: 1_000_000, runs_per_minute: 1_000_000 };
  const { tenant_id, key } = await createTestTenant(environment, { limits, tenant: { limits } });
  await environment.query(
    "insert into budgets (tenant_id, is_prepaid, available, day_limit) values ($1, true, 1e12, 1e12)",
    [tenant_id],
  );
  return { name: "with all three", world: environment, key, cpuMs: [], acceptMs: [] };
}

async function startWithoutLimits(): Promise<Variant> {
  const off = { TENANT_REQUESTS_PER_MINUTE: "0", TENANT_RUNS_PER_MINUTE: "0" };
  const environment = await startTestEnvironment({ roles: "split", env: { LOG_LEVEL: "error", ...off } });
  const { key } = await createTestTenant(environment);
  await environment.query("alter role gesso_app bypassrls");
  await environment.query("alter role gesso_system bypassrls");
  return { name: "without", world: environment, key, cpuMs: [], acceptMs: [] };
}

async function measure({ world: environment, key, cpuMs, acceptMs }: Variant): Promise<void> {
  const post = createRunPoster({ url: environment.url, key }, AT_ONCE);
  const { api, postgres } = environment.pids();
  let next = 0;
  const customer = async () => {
    while (next++ < Number(posts)) {
      const { status } = await post();
      if (status !== 202) throw new Error(`answered ${status}`);
    }
  };
  const { cpu } = await measureCpu({ api: api!, postgres: postgres! }, () =>
    Promise.all(Array.from({ length: AT_ONCE }, customer)),
  );
  cpuMs.push(((cpu.api! + cpu.postgres!) * 1000) / Number(posts));
  const pending: Promise<void>[] = [];
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const startedAt = performance.now();
    pending.push(post().then(() => void acceptMs.push(performance.now() - startedAt)));
    await new Promise((resolve) => setTimeout(resolve, 1000 / PER_SECOND));
  }
  await Promise.all(pending);
}

const [bare, guarded] = [await startWithoutLimits(), await startWithLimits()];
const sides = [bare, guarded];
try {
  for (const { world: environment } of sides) await environment.stopGracefully("worker");
  for (const side of sides) await measure(side);
  for (const side of sides) Object.assign(side, { cpuMs: [], acceptMs: [] });
  for (let round = 0; round < Number(rounds); round++) {
    // The first of a round is now this one, now that one.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await measure(side);
  }
} finally {
  for (const { world: environment } of sides) await environment.stop();
  rmSync(folder, { recursive: true, force: true });
}

const middle = (values: number[]) => percentile(values, 0.5);
for (const { name, cpuMs, acceptMs } of sides) {
  const spread = `${Math.min(...cpuMs).toFixed(2)} to ${Math.max(...cpuMs).toFixed(2)}`;
  const times = `p50 ${middle(acceptMs).toFixed(1)} ms, p99 ${percentile(acceptMs, 0.99).toFixed(1)} ms`;
  console.log(
    `${name.padEnd(15)} CPU per accepted request ${middle(cpuMs).toFixed(2)} ms (${spread})   accept at ${PER_SECOND}/s: ${times}`,
  );
}
const ratio = middle(guarded.cpuMs) / middle(bare.cpuMs);
const slower = percentile(guarded.acceptMs, 0.99) / percentile(bare.acceptMs, 0.99);
console.log(`CPU ${ratio.toFixed(2)}×, accept p99 ${slower.toFixed(2)}×   (goal: at most ${GOAL}×)`);
process.exit(ratio > GOAL ? 1 : 0);
