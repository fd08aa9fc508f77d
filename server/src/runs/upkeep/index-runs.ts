// Indexes runs by terms, so that lists can be filtered and searched: new and ended runs from the event log, and once
// all runs that were accepted before the index existed. A crash repeats at most one batch, which changes nothing.
import type { Database } from "../../db/connect.ts";
import { listEventsAfter, readLogHead } from "../../db/event-log.ts";
import {
  findRunsToIndex,
  insertRunTerms,
  listRunsBefore,
  readRunIndexCursor,
  saveRunIndexBackfill,
  saveRunIndexPosition,
  type UnindexedRun,
} from "../../db/search/run-index.ts";
import { isOpenStatus, termsOfRun } from "../../db/search/search-terms.ts";

const EVENTS_PER_TURN = 500;
const BACKFILL_PER_TURN = 200;

type Dependencies = { database: Database };

/** Indexes the next batch. Returns whether there may be more to index at once. */
export async function indexRuns({ database }: Dependencies): Promise<boolean> {
  const { position, backfillBefore } = await readRunIndexCursor(database);
  if (position === null) {
    // Runs whose events are before the head are committed, so the backfill sees them.
    await saveRunIndexPosition(database, await readLogHead(database));
    return true;
  }
  const events = await listEventsAfter(database, position, EVENTS_PER_TURN);
  const last = events.at(-1);
  if (last) {
    const changed = events.filter(({ type, terminal }) => type === "run.queued" || terminal);
    await indexBatch(database, await findRunsToIndex(database, [...new Set(changed.map(({ run_id }) => run_id))]));
    await saveRunIndexPosition(database, last);
  }
  const hasOlder = backfillBefore !== null && (await backfill(database, backfillBefore));
  return hasOlder || events.length === EVENTS_PER_TURN;
}

async function backfill(database: Dependencies["database"], before: string): Promise<boolean> {
  const runs = await listRunsBefore(database, before, BACKFILL_PER_TURN);
  await indexBatch(database, runs);
  const hasMore = runs.length === BACKFILL_PER_TURN;
  await saveRunIndexBackfill(database, hasMore ? runs.at(-1)!.run_id : null);
  return hasMore;
}

const indexBatch = (database: Dependencies["database"], runs: UnindexedRun[]): Promise<number> =>
  insertRunTerms(
    database,
    runs
      .filter(({ is_deleted }) => !is_deleted)
      .map((run) => ({
        run_id: run.run_id,
        tenant_id: run.tenant_id,
        month: `${run.created_at.toISOString().slice(0, 7)}-01`,
        is_open: isOpenStatus(run.status),
        terms: termsOfRun(run),
      })),
  );
