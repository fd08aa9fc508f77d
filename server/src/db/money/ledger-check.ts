// Checks the invariants of the ledger, in pieces of a bounded number of rows on one snapshot: it can run while runs
// start and end, and no statement grows with the ledger.
import { readSnapshot, type Snapshot } from "../snapshot.ts";
import { statement } from "../statement.ts";
import { TENANT_BUDGET_HOLDER } from "./budgets.ts";

/** An invariant of the ledger and how often it is violated. */
export type LedgerCheck = { invariant: string; violations: number };

const LEDGER_INVARIANTS = {
  unbalanced: "the sum of all ledger entries is zero",
  misreserved: "every open run has exactly its reservation and no other transfer",
  orphaned: "only open runs hold money",
  unsettled: "the reservation of an ended run was settled or released in full",
  mischarged: "a run was charged what it says it cost, and only if it was completed or canceled",
  misbalanced: "every balance is the sum of its entries",
  overdrawn: "no balance is below zero",
};
type LedgerViolations = Record<keyof typeof LEDGER_INVARIANTS, number>;

/** Runs and transfers in one piece. */
const PIECE_ROWS = 20_000;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** A run and its transfers have the same id, so they are in the same piece. */
type LedgerPiece = { from: string; until: string };
const isInPiece = (id: string) => `${id} >= :from and ${id} < :until`;

const FIND_PIECE_END = statement(
  "ledger_check.find_piece_end",
  `select least(
     (select run_id from runs where run_id >= :from order by run_id offset :rows limit 1),
     (select cause_id from transfers where cause_id >= :from order by cause_id offset :rows limit 1)) as until`,
);

const COUNT_VIOLATIONS = statement(
  "ledger_check.count_violations",
  `with causes as (
    select cause_id, coalesce(sum(amount) filter (where kind = 'reserve'), 0) as reservation,
      coalesce(sum(amount) filter (where kind = 'settle'), 0) as settled,
      coalesce(sum(amount) filter (where from_account = 'reserved'), 0) as released
    from transfers where kind <> 'topup' and ${isInPiece("cause_id")} group by cause_id
  )
  select (select coalesce(sum(amount), 0) from entries where ${isInPiece("cause_id")})::bigint as unbalanced,
    (select count(*) from open_runs left join causes on cause_id = run_id
     where ${isInPiece("run_id")} and (coalesce(reserved, 0) <> coalesce(reservation, 0)
       or coalesce(settled, 0) + coalesce(released, 0) > 0))::int as misreserved,
    (select count(*) from causes where reservation > released
     and not exists (select from open_runs where run_id = cause_id))::int as orphaned,
    (select count(*) from causes where released > 0 and reservation <> released)::int as unsettled,
    (select count(*) from runs left join causes on cause_id = run_id
     where ${isInPiece("run_id")}
       and coalesce(settled, 0) <> coalesce((cost ->> 'amount')::numeric * 1000000, 0)
       -- Of an archived run, only the tombstone may be left.
       and not exists (select from archived_runs where archived_runs.run_id = runs.run_id))::int as mischarged`,
).columns<Record<"unbalanced" | "misreserved" | "orphaned" | "unsettled" | "mischarged", number>>();

/** The entries of a tenant that is being deleted are deleted in batches, so their sum means nothing. */
const IS_COMPLETE_TENANT = `not exists (
     select from tenant_deletions where deleted_tenant_id = tenant_id and state = 'deleting')`;

const SUM_BALANCES = statement(
  "ledger_check.sum_balances",
  `select tenant_id, sum(amount)::bigint as amount from entries where account = 'available' and ${isInPiece("cause_id")}
     and ${IS_COMPLETE_TENANT} group by tenant_id`,
).columns<{ tenant_id: string; amount: number }>();

const LIST_BALANCES = statement(
  "ledger_check.list_balances",
  `select tenant_id, available, is_prepaid from budgets
   where holder_id = '${TENANT_BUDGET_HOLDER}' and ${IS_COMPLETE_TENANT}`,
);

type LedgerCheckOptions = { pieceRows?: number; statementMs?: number };

export const findLedgerViolations = (
  databaseUrl: string,
  { pieceRows = PIECE_ROWS, ...timing }: LedgerCheckOptions = {},
): Promise<LedgerCheck[]> =>
  readSnapshot(
    databaseUrl,
    async (snapshot) => {
      const violations = await countViolations(snapshot, pieceRows);
      return Object.entries(LEDGER_INVARIANTS).map(([name, invariant]) => ({
        invariant,
        violations: violations[name as keyof LedgerViolations],
      }));
    },
    timing,
  );

async function countViolations(snapshot: Snapshot, pieceRows: number): Promise<LedgerViolations> {
  const total = { unbalanced: 0, misreserved: 0, orphaned: 0, unsettled: 0, mischarged: 0 };
  const entrySums = new Map<string, number>();
  for await (const piece of splitLedger(snapshot, pieceRows)) {
    const [counted] = await snapshot.execute(COUNT_VIOLATIONS, piece);
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counted![name];
    for (const { tenant_id, amount } of await snapshot.execute(SUM_BALANCES, piece))
      entrySums.set(tenant_id, (entrySums.get(tenant_id) ?? 0) + amount);
  }
  const balances = await snapshot.execute(LIST_BALANCES);
  for (const { tenant_id, available } of balances)
    entrySums.set(tenant_id, (entrySums.get(tenant_id) ?? 0) - available);
  return {
    ...total,
    unbalanced: Math.abs(total.unbalanced),
    misbalanced: [...entrySums.values()].filter((difference) => difference !== 0).length,
    overdrawn: balances.filter(({ is_prepaid, available }) => is_prepaid && available < 0).length,
  };
}

async function* splitLedger(snapshot: Snapshot, rows: number): AsyncGenerator<LedgerPiece> {
  let from = FIRST_ID;
  while (from !== LAST_ID) {
    const [end] = await snapshot.execute(FIND_PIECE_END, { from, rows });
    const until = end?.until ?? LAST_ID;
    yield { from, until };
    from = until;
  }
}
