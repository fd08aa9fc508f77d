// Whether the books of a running Gesso are in order.
import { connect } from "../src/db/connect.ts";
import { type BookCheck, checkBooks } from "../src/db/ledger.ts";

export async function checkBooksOf(world: { databaseUrl: string }): Promise<BookCheck[]> {
  const db = connect({ DATABASE_URL: world.databaseUrl, DATABASE_POOL: 2 });
  try {
    return await checkBooks(db);
  } finally {
    await db.close();
  }
}

/** Those promises of the books that do not hold. */
export const brokenBooks = async (world: { databaseUrl: string }): Promise<BookCheck[]> =>
  (await checkBooksOf(world)).filter(({ broken }) => broken > 0);
