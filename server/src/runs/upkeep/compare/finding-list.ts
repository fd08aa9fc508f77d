// Collects findings in any order and returns those of the first runs. The number in memory is bounded: a server that is
// connected to the wrong database has a finding for every file.
import type { Finding } from "../../../contract/schemas/reconciliation.ts";

export type FindingList = {
  add(finding: Pick<Finding, "run_id" | "tenant_id" | "finding" | "run_status"> & Partial<Finding>): void;
  page(): { data: Finding[]; has_more: boolean };
};

const MAX_HELD = 5000;

const compareFindings = (one: Finding, other: Finding) =>
  one.run_id.localeCompare(other.run_id) || one.finding.localeCompare(other.finding);

export function createFindingList({ after = "", limit }: { after?: string | undefined; limit: number }): FindingList {
  let held: Finding[] = [];
  let hasMore = false;

  /** All findings of a run stay together, so there may be more than `limit`. */
  const cut = () => {
    held.sort(compareFindings);
    const last = held[limit - 1];
    const end = last ? held.findIndex(({ run_id }) => run_id > last.run_id) : -1;
    if (end < 0) return;
    held = held.slice(0, end);
    hasMore = true;
  };

  return {
    add(finding) {
      if (finding.run_id <= after) return;
      held.push({ file: null, job: null, cost: null, ...finding });
      if (held.length > limit + MAX_HELD) cut();
    },
    page() {
      cut();
      return { data: held, has_more: hasMore };
    },
  };
}
