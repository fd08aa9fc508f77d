// Readers of a log that was restored to an earlier time: a position of the lost period is refused, also after the
// restored log has grown past it.
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { type LogPosition, listEventsAfter, readLogHead, repairEventClock } from "../db/event-log.ts";
import type { EventQuery } from "./backlog.ts";
import { readEventPage } from "./backlog.ts";
import { createEventStreams, EventStreamsEnv } from "./event-streams.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase({ hasOwnServer: true });
  await repairEventClock(database.db);
});
afterAll(() => database?.stop());

const tenant_id = v7();
const insertEvent = async () => {
  const event_id = v7();
  const text = "insert into events (run_id, event_id, tenant_id, type) values ($1, $2, $3, 'run.progress')";
  await database.db.query("test.event", text, [v7(), event_id, tenant_id]);
  return event_id;
};
const services = () => ({ database: database.db, assets: {} as EventQuery["services"]["assets"] });
const readPage = (after: LogPosition | undefined) =>
  readEventPage({ services: services(), tenant_id, filter: {}, after });
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    ({ code }) => code,
  );
/** As if the server were a copy that was promoted: its timeline differs from the one in the restored rows. */
async function restore() {
  await database.owner.query("test.timeline", "update event_clock set timeline = timeline || '0'");
  await repairEventClock(database.db);
}

it("refuses a position after the end of the log, as a page and as a stream", async () => {
  await insertEvent();
  const { xact } = await readLogHead(database.db);
  const after = { xact: xact + 1000, seq: 1 };
  expect(await codeOf(readPage(after))).toBe("event_position_lost");
  const streams = createEventStreams({ ...createTestRuntime(), ...services() }, EventStreamsEnv.parse({}));
  const credential = { expires_at: null, isStillValid: async () => true };
  const query = { services: services(), tenant_id, filter: {}, after, ...credential };
  expect(await codeOf(streams.open(query))).toBe("event_position_lost");
  const stream = await streams.open({ ...query, after: { xact, seq: 0 } });
  stream!.unsubscribe();
  streams.close();
});

it("refuses positions of the lost period after the restored log has grown past them", async () => {
  await insertEvent();
  const end = await readLogHead(database.db);
  const lost = { xact: end.xact + 3, seq: 7 };
  await restore();
  const events = [await insertEvent(), await insertEvent(), await insertEvent(), await insertEvent()];
  for (let count = 0; count < 5; count++) await insertEvent();
  expect(await codeOf(readPage(lost))).toBe("event_position_lost");
  // A reader that had not read anything of the lost period continues, and misses nothing.
  const page = await readPage(end);
  expect(page.data.slice(0, 4).map(({ event_id }) => event_id)).toEqual(events.map((id) => `evt_${id}`));
  expect(await codeOf(readPage(undefined))).toBe("none");
});

it("changes nothing at the next start on the same timeline", async () => {
  await restore();
  const before = await readLogHead(database.db);
  await repairEventClock(database.db);
  await repairEventClock(database.db);
  expect((await readLogHead(database.db)).xact - before.xact).toBeLessThan(20);
});

it("keeps the order of events that are written while the restore is noticed", async () => {
  const start = await readLogHead(database.db);
  let [isOver, isWritten] = [false, false];
  const written: string[] = [];
  const writers = [1, 2, 3].map(async () => {
    while (!isOver) written.push(await insertEvent());
  });
  const read: string[] = [];
  const reader = (async () => {
    for (let position = start; ; ) {
      const wasWritten = isWritten;
      const rows = await listEventsAfter(database.db, position, 1000);
      read.push(...rows.map(({ event_id }) => event_id));
      position = rows.at(-1) ?? position;
      // What is written is readable: no transaction of this database is open.
      if (wasWritten && rows.length === 0) return;
    }
  })();
  for (let count = 0; count < 5; count++) await restore();
  isOver = true;
  await Promise.all(writers);
  isWritten = true;
  await reader;
  expect(new Set(read)).toEqual(new Set(written));
  expect(read.length).toBe(written.length);
});
