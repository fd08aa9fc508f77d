// Statements on one snapshot of the data, for checks that read too much for one statement. Later changes are not seen,
// and nothing can be written.
import pg from "pg";
import { type Database, faultOf } from "./connect.ts";
import { bindParameters } from "./statement.ts";

export type Snapshot = Pick<Database, "execute">;

const STATEMENT_MS = 10_000;

export type OpenSnapshot = { snapshot: Snapshot; close(): Promise<void> };
type SnapshotTiming = { statementMs?: number };

/** Opens a connection of its own as `gesso_system`. Each statement has `statementMs`; the snapshot has no limit. */
export async function openSnapshot(
  url: string,
  { statementMs = STATEMENT_MS }: SnapshotTiming = {},
): Promise<OpenSnapshot> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    statement_timeout: statementMs,
    query_timeout: statementMs + 2000,
    // These statements read thousands of rows: each is planned for its parameters, and a nested loop is never right.
    options: "-c role=gesso_system -c plan_cache_mode=force_custom_plan -c enable_nestloop=off",
  });
  // Without a listener a connection that the server closes would end the process; the statement fails in any case.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("begin isolation level repeatable read read only");
  } catch (thrown) {
    await client.end();
    throw faultOf(thrown);
  }
  const execute: Snapshot["execute"] = async (statement, ...[values]) => {
    const { name, text } = statement;
    try {
      return (await client.query({ name, text, values: bindParameters(statement, values) })).rows;
    } catch (thrown) {
      throw faultOf(thrown);
    }
  };
  return { snapshot: { execute }, close: () => client.end() };
}

/** As `openSnapshot`, closed after the work. */
export async function readSnapshot<T>(
  url: string,
  work: (snapshot: Snapshot) => Promise<T>,
  timing: SnapshotTiming = {},
): Promise<T> {
  const { snapshot, close } = await openSnapshot(url, timing);
  try {
    return await work(snapshot);
  } finally {
    await close();
  }
}
