// Compares the money of a campaign with its prices and with the jobs that the vendors accepted.
import type { CheckResult } from "../support/campaign.ts";
import { checkLedgerOf } from "../support/check-ledger.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import type { PostedRun, RecoveryClass } from "./run-load.ts";
import type { VendorJobRecord } from "./vendor-jobs.ts";

/** Per image as in prices.yaml, in micro-dollars. */
export const PRICE_MICRODOLLARS: Record<RecoveryClass, number> = { A: 30_000, B: 50_000, C: 70_000, D: 110_000 };

type RunCharges = { run_id: string; status: string; settled: number; wasted: number; held: number };

/** The invariants of the ledger, independent of the provider. */
export const checkLedgerInvariants = async (environment: TestEnvironment): Promise<CheckResult[]> =>
  (await checkLedgerOf(environment)).map(({ invariant, violations }) => ({
    invariant,
    passed: violations === 0,
    observed: `${violations} violations`,
  }));

export async function checkCharges(
  environment: TestEnvironment,
  posted: PostedRun[],
  jobs: VendorJobRecord[],
): Promise<CheckResult[]> {
  const rows = await environment.query<RunCharges>(
    `select run_id, status, coalesce(sum(amount) filter (where kind = 'settle'), 0)::int as settled,
       coalesce(sum(amount) filter (where kind = 'waste'), 0)::int as wasted,
       coalesce(sum(amount) filter (where kind = 'reserve'), 0)::int as held
     from runs left join transfers on cause_id = run_id where run_id = any($1::uuid[]) group by run_id, status`,
    [posted.map((post) => post.run_id)],
  );
  const postOf = new Map(posted.map((post) => [post.run_id, post]));
  const priceOf = (runId: string) => PRICE_MICRODOLLARS[postOf.get(runId)!.class];
  const jobCounts = new Map<string | undefined, number>();
  for (const { run_id } of jobs) jobCounts.set(run_id, (jobCounts.get(run_id) ?? 0) + 1);

  const isPaid = ({ run_id, status, settled, held }: RunCharges) => {
    if (held !== priceOf(run_id) * postOf.get(run_id)!.count) return false;
    if (status === "completed") return settled === held;
    // A canceled run may be charged for what was submitted, never for more.
    return status === "canceled" ? settled <= held : settled === 0;
  };
  // An unknown outcome counts as paid: the recorded waste may exceed the vendor's ledger, but is never lower.
  const isCovered = ({ run_id, settled, wasted }: RunCharges) =>
    settled + wasted >= priceOf(run_id) * (jobCounts.get(run_id) ?? 0);
  const unpaid = rows.filter((row) => !isPaid(row));
  const uncovered = rows.filter((row) => !isCovered(row));
  const sum = (of: "settled" | "wasted") => (rows.reduce((total, row) => total + row[of], 0) / 1e6).toFixed(2);
  return [
    ...(await checkLedgerInvariants(environment)),
    {
      invariant: "completed runs are charged their price once, failed ones nothing",
      passed: unpaid.length === 0,
      observed: `$${sum("settled")} charged, ${unpaid.length} others ${JSON.stringify(unpaid.slice(0, 3))}`,
    },
    {
      invariant: "every job that the vendor accepted is charged or booked as waste",
      passed: uncovered.length === 0,
      observed: `$${sum("wasted")} waste, ${uncovered.length} others ${JSON.stringify(uncovered.slice(0, 3))}`,
    },
    await checkCanceledCharges(environment),
  ];
}

type CanceledCharges = { run_id: string; accepted: number; settled: number; held: number };

/**
 * A job that a provider had accepted when its run was canceled stays charged, unless its attempt was ended as not
 * charged. An outcome that was unknown then is waste, also if a late callback brings the ticket afterwards.
 */
export async function checkCanceledCharges(environment: TestEnvironment): Promise<CheckResult> {
  const rows = await environment.query<CanceledCharges>(
    `select run_id,
       (select coalesce(sum(price), 0)::int from attempts
        where attempts.run_id = runs.run_id and state in ('submitted', 'succeeded')
          and coalesce(submitted_at, attempts.finished_at) < runs.finished_at) as accepted,
       (select coalesce(sum(amount), 0)::int from transfers where cause_id = run_id and kind = 'settle') as settled,
       (select coalesce(sum(amount), 0)::int from transfers where cause_id = run_id and kind = 'reserve') as held
     from runs where status = 'canceled'`,
  );
  const refunded = rows.filter(({ accepted, settled, held }) => settled < Math.min(accepted, held));
  const charged = rows.filter(({ settled }) => settled > 0);
  return {
    invariant: "a canceled run is charged for the jobs that its provider had accepted",
    passed: refunded.length === 0,
    observed: `${rows.length} canceled, ${charged.length} charged, refunded ${JSON.stringify(refunded.slice(0, 3))}`,
  };
}
