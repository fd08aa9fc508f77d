// A PostgreSQL whose time is the manual clock of a test: in statements, `now()` and `clock_timestamp()` are functions
// that read the clock's time. A lease in the database and the timers of its holder then expire on the same clock.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { connectDatabase, type Database } from "../../src/db/connect.ts";
import type { ManualClock } from "./manual-clock.ts";
import type { TestDatabase } from "./test-database.ts";

/** The time of the database at the reading 0 of the clock. */
const EPOCH_MS = Date.UTC(2030, 0, 1);

// PostgreSQL searches its own functions first, unless the path names them later. Defaults of columns were bound to a
// function when their table was created, so they are set again.
const INSTALL = `do $install$ declare found record; begin
  create schema test_clock;
  create table test_clock.reading (at timestamptz not null);
  insert into test_clock.reading values (to_timestamp(${EPOCH_MS / 1000}));
  create function test_clock.now() returns timestamptz stable language sql as 'select at from test_clock.reading';
  create function test_clock.clock_timestamp() returns timestamptz volatile language sql
    as 'select at from test_clock.reading';
  grant usage on schema test_clock to public;
  grant select on test_clock.reading to public;
  for found in select table_name, column_name, replace(column_default, 'now()', 'test_clock.now()') as new_default
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_default like '%now()%'
  loop
    execute format('alter table %I alter column %I set default %s',
      found.table_name, found.column_name, found.new_default);
  end loop;
  execute format('alter database %I set search_path = test_clock, pg_catalog, "$user", public', current_database());
end $install$`;

/** Lets the database follow clocks. Connections that exist already keep the time of the machine. */
export const installDatabaseClock = ({ owner }: TestDatabase) => owner.query("test.install_clock", INSTALL);

/**
 * Connects with this clock, which then waits for the statements in progress before it fires the next timer: what a
 * timer starts is finished at the time of that timer.
 */
export function connectOnClock({ url, owner }: TestDatabase, clock: ManualClock): Database {
  const db = connectDatabase({ DATABASE_URL: url, DATABASE_POOL: 8 }, "gesso_system", { clock });
  const inProgress = new Set<Promise<unknown>>();
  let known: number | undefined;
  let update: Promise<unknown> = Promise.resolve();
  const tellTime = () => {
    update = update.then(async () => {
      if (known === clock.at) return;
      known = clock.at;
      const text = "update test_clock.reading set at = to_timestamp($1::float8 / 1000)";
      await owner.query("test.tell_time", text, [EPOCH_MS + clock.at]);
    });
    return update;
  };
  const track = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tellTime().then(work);
    const ended: Promise<unknown> = result.then(
      () => inProgress.delete(ended),
      () => inProgress.delete(ended),
    );
    inProgress.add(ended);
    return result;
  };
  clock.settleWith(async () => {
    for (;;) {
      await turnOfEventLoop();
      if (inProgress.size === 0) return;
      await Promise.all(inProgress);
    }
  });
  return {
    ...db,
    execute: (...statement) => track(() => db.execute(...statement)),
    query: (...statement) => track(() => db.query(...statement)),
  } as Database;
}
