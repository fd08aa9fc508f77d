// The marker of the engine as stored here. An engine without this marker has lost its journal.
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

const READ = statement("engine_incarnation.read", "select incarnation from engine_incarnation");

export async function readEngineIncarnation(db: Database): Promise<string | undefined> {
  const [row] = await db.execute(READ);
  return row?.incarnation;
}

const SAVE = statement(
  "engine_incarnation.save",
  `insert into engine_incarnation (incarnation) values (:incarnation)
   on conflict (id) do update set incarnation = excluded.incarnation, set_at = now()`,
);

export async function saveEngineIncarnation(db: Database, incarnation: string): Promise<void> {
  await db.execute(SAVE, { incarnation });
}
