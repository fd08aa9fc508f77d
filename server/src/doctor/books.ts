// Whether the books of money balance. Nothing heals them by itself, so whoever finds them broken must hear of it.
import type { z } from "zod";
import { connect, type DatabaseEnv } from "../db/connect.ts";
import { checkBooks } from "../db/ledger.ts";
import { reasonOf } from "./parts.ts";
import type { Check } from "./report.ts";

const FIX = "change nothing by hand, keep a copy of the database, and see `The books` in the guide to budgets";

export async function examineBooks(settings: z.output<typeof DatabaseEnv>): Promise<Check> {
  const name = "books";
  const database = connect(settings);
  try {
    const broken = (await checkBooks(database)).filter((each) => each.broken > 0);
    if (broken.length === 0) return { name, status: "pass", message: "balance to the last unit" };
    const message = broken.map((each) => `not so ${each.broken} times: ${each.promise}`).join("; ");
    return { name, status: "fail", message, fix: FIX };
  } catch (thrown) {
    // Before the first start there are none, and very large ones take longer than a statement may.
    return { name, status: "skip", message: `cannot be read: ${reasonOf(thrown)}` };
  } finally {
    await database.close();
  }
}
