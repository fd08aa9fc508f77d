// The mark that we left in the engine, as we remember it.
import type { Database } from "./connect.ts";

export async function readEngineIncarnation(db: Database): Promise<string | undefined> {
  const [row] = await db.query<{ mark: string }>("mark.read", "select mark from engine_mark");
  return row?.mark;
}

export async function saveEngineIncarnation(db: Database, mark: string): Promise<void> {
  await db.query(
    "mark.set",
    "insert into engine_mark (mark) values ($1) on conflict (id) do update set mark = $1, set_at = now()",
    [mark],
  );
}
