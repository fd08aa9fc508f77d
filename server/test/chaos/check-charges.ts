// Campaigns spend money: a tenant with a balance, a fake vendor with prices. Afterwards the ledger is compared with the
// vendor's.
import { fileURLToPath } from "node:url";
import { createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import { checkLedgerOf } from "../support/check-ledger.ts";
import {
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from "../support/test-environment.ts";
import type { PostedRun, RecoveryClass } from "./run-load.ts";

const PRICES = fileURLToPath(new URL("./prices.yaml", import.meta.url));
/** As the file has them, in micro-dollars. */
const PRICE_MICRODOLLARS: Record<RecoveryClass, number> = { A: 30_000, B: 50_000, C: 70_000 };
const TENANT = "00000000-0000-7000-8000-000000000001";

export async function startPrepaidEnvironment({ env, ...options }: TestEnvironmentOptions): Promise<TestEnvironment> {
  const environment = await startTestEnvironment({ ...options, env: { ...env, GESSO_CONFIG: PRICES } });
  const { status } = await createHttpCaller(environment).post(`/tenants/${TENANT}/credit`, { amount: 1000 });
  if (status === 200) return environment;
  await environment.stop();
  throw new Error(`the tenant was not credited: ${status}`);
}

type RunCharges = { run_id: string; status: string; settled: number; wasted: number; held: number };

/** The invariants of the ledger, independent of the provider. */
export const checkLedgerInvariants = async (environment: TestEnvironment) =>
  (await checkLedgerOf(environment)).map(({ invariant, violations }) => ({
    invariant,
    passed: violations === 0,
    observed: `${violations} violations`,
  }));

export async function checkCharges(environment: TestEnvironment, posted: PostedRun[]) {
  const rows = await environment.query<RunCharges>(
    `select run_id, status, coalesce(sum(amount) filter (where kind = 'settle'), 0)::int as settled,
       coalesce(sum(amount) filter (where kind = 'waste'), 0)::int as wasted,
       coalesce(sum(amount) filter (where kind = 'reserve'), 0)::int as held
     from runs left join transfers on cause_id = run_id where run_id = any($1::uuid[]) group by run_id, status`,
    [posted.map((post) => post.run_id)],
  );
  const priceOf = new Map(posted.map((post) => [post.run_id, PRICE_MICRODOLLARS[post.class]]));
  const jobs = (await readSandboxLedger(environment)).map((job) => job.reference?.split(".")[0]);
  const isPaid = ({ run_id, status, settled, held }: RunCharges) =>
    held === priceOf.get(run_id) && settled === (status === "completed" ? held : 0);
  // An unknown outcome counts as paid: the recorded waste may exceed the vendor's ledger, but is never lower.
  const isCovered = ({ run_id, settled, wasted }: RunCharges) =>
    settled + wasted >= priceOf.get(run_id)! * jobs.filter((job) => job === run_id).length;
  const unpaid = rows.filter((row) => !isPaid(row));
  const uncovered = rows.filter((row) => !isCovered(row));
  const sum = (of: "settled" | "wasted") => (rows.reduce((total, row) => total + row[of], 0) / 1e6).toFixed(2);
  return [
    ...(await checkLedgerInvariants(environment)),
    {
      invariant: "completed runs are charged their price once, others nothing",
      passed: unpaid.length === 0,
      observed: `$${sum("settled")} charged, ${unpaid.length} others ${JSON.stringify(unpaid.slice(0, 3))}`,
    },
    {
      invariant: "every job that the vendor accepted is charged or booked as waste",
      passed: uncovered.length === 0,
      observed: `$${sum("wasted")} waste, ${uncovered.length} others ${JSON.stringify(uncovered.slice(0, 3))}`,
    },
  ];
}
