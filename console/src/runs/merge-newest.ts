// Joins the newest page of a list, which is read again and again, with the pages that were read once.
import type { Run } from "@gesso/client";

/** The newest page replaces what it has in common with the list and stands before the rest. */
export function mergeNewest(newest: readonly Run[], list: readonly Run[]): Run[] {
  const ids = new Set(newest.map(({ run_id }) => run_id));
  const oldestOfNewest = newest.at(-1)?.run_id ?? "";
  // IDs sort by time. A run of the list that is newer than the end of the newest page has left the filter.
  return [...newest, ...list.filter(({ run_id }) => !ids.has(run_id) && run_id < oldestOfNewest)];
}
