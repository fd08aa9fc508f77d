// The generic plans of all statements on the data of a benchmark: which of them scan a large table, and how many locks
// they take.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type CompiledStatement, registeredStatements } from "../../src/db/statement.ts";

const DATABASE_FOLDER = join(import.meta.dirname, "../../src/db");
/** Tables with more rows are large. */
const LARGE_ROWS = 5000;
/** Checks of a whole installation, deletions of a whole tenant and of all sums: they read everything, on purpose. */
const READS_EVERYTHING =
  /^(tenant_deletion|tenant_export|ledger_check|storage_check|usage_check|audit|maintenance|daily_usage.clear)/;

export type PlanReport = { statements: number; scans: string[]; maxLocks: { name: string; locks: number } };

async function loadStatements(): Promise<CompiledStatement[]> {
  const files = readdirSync(DATABASE_FOLDER, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith("generated/")))
    await import(join(DATABASE_FOLDER, file));
  return [...registeredStatements.values()].flat().filter(({ name }) => !READS_EVERYTHING.test(name));
}

export async function checkPlans(databaseUrl: string): Promise<PlanReport> {
  const statements = await loadStatements();
  const client = new pg.Client({
    connectionString: databaseUrl,
    options: "-c plan_cache_mode=force_generic_plan -c role=gesso_system",
  });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > $1",
    [LARGE_ROWS],
  );
  const large = new Set(rows.map(({ name }) => name));
  const report: PlanReport = { statements: statements.length, scans: [], maxLocks: { name: "", locks: 0 } };
  for (const { name, text, parameterNames } of statements) {
    const values = parameterNames.map(() => "null").join(", ");
    await client.query(`prepare checked as ${text}`);
    await client.query("begin");
    const plan = await client.query(`explain execute checked${values && `(${values})`}`);
    const lines = plan.rows.map((row) => String(row["QUERY PLAN"]));
    const scanned = lines
      .flatMap((line) => /Seq Scan on (\w+)/.exec(line)?.[1] ?? [])
      .filter((table) => large.has(table));
    if (scanned.length > 0) report.scans.push(`${name}: ${[...new Set(scanned)].join(", ")}`);
    const { rows: counted } = await client.query<{ locks: number }>(
      `select count(*)::int as locks from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
         and relation <> all (select oid from pg_class where relnamespace = 'pg_catalog'::regnamespace)`,
    );
    if (counted[0]!.locks > report.maxLocks.locks) report.maxLocks = { name, locks: counted[0]!.locks };
    await client.query("rollback");
    await client.query("deallocate checked");
  }
  await client.end();
  return report;
}
