// Lists runs of a tenant, newest first. Each set of filters is a statement of its own, so that each has its own plan.
import type { Database } from "../connect.ts";
import { statementVariants } from "../statement.ts";
import { type RunRow, runColumns } from "./runs.ts";

type RunListFilter = {
  before?: string | undefined;
  status?: string | undefined;
  run_type?: string | undefined;
  parent_run_id?: string | undefined;
  created_after?: string | undefined;
};

/** Tables through which the runs of a status are found without reading the others. */
const STATUS_TABLES: Record<string, string> = {
  queued: "open_runs",
  processing: "open_runs",
  failed: "unsuccessful_runs",
  canceled: "unsuccessful_runs",
};
const SOURCES: Record<string, string> = {
  runs: "runs",
  open_runs: "open_runs join runs using (run_id, tenant_id)",
  unsuccessful_runs: "unsuccessful_runs join runs using (run_id, tenant_id, status)",
};

const CONDITIONS = {
  before: "run_id < :before",
  status: "status = :status",
  run_type: "run_type = :run_type",
  parent_run_id: "parent_run_id = :parent_run_id",
  // In milliseconds, the precision of the API. A run gets its id up to an hour before it is accepted.
  created_after: `run_id >= uuid_floor(:created_after::timestamptz - interval '1 hour')
      and date_trunc('milliseconds', created_at) > :created_after::timestamptz`,
} satisfies Record<keyof RunListFilter, string>;
const FILTERS = Object.keys(CONDITIONS) as (keyof RunListFilter)[];

const variantName = (source: string, filters: string[]) => [source, ...filters].join(".");

const LIST_RUNS = statementVariants("runs.list", Object.fromEntries(listVariants()));

/** Every source with every set of filters; sources other than `runs` only with `status`, which selects them. */
function* listVariants() {
  for (const [source, tables] of Object.entries(SOURCES)) {
    for (let bits = 0; bits < 2 ** FILTERS.length; bits++) {
      const filters = FILTERS.filter((_, index) => bits & (1 << index));
      if (source !== "runs" && !filters.includes("status")) continue;
      const conditions = filters.map((filter) => ` and ${CONDITIONS[filter]}`).join("");
      yield [
        variantName(source, filters),
        `select ${runColumns()} from ${tables}
         where tenant_id = :tenant_id and deleted_at is null${conditions} order by run_id desc limit :limit`,
      ] as const;
    }
  }
}

/** Keyset pagination: the cost of a page does not grow with its distance from the first. */
export async function listRunRows(
  db: Database,
  tenantId: string,
  filter: RunListFilter,
  limit: number,
): Promise<RunRow[]> {
  const source = STATUS_TABLES[filter.status ?? ""] ?? "runs";
  const filters = FILTERS.filter((name) => filter[name] !== undefined);
  const { before, status, run_type, parent_run_id, created_after } = filter;
  const values = { tenant_id: tenantId, limit, before, status, run_type, parent_run_id, created_after };
  return db.execute(LIST_RUNS.get(variantName(source, filters))!, values);
}
