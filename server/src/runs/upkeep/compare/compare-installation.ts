// Compares what the database knows with the storage, the ledger and the providers' own job lists. It is for the time
// after a restore to an earlier point in time: files and jobs of the lost period remain outside of the database.
// Nothing is changed.
import type { Reconciliation } from "../../../contract/schemas/reconciliation.ts";
import { compareAssets } from "./compare-assets.ts";
import { compareCharges } from "./compare-charges.ts";
import { compareFiles } from "./compare-files.ts";
import { compareJobs } from "./compare-jobs.ts";
import type { ComparisonDependencies, ComparisonScope } from "./comparison-scope.ts";
import { createFindingList } from "./finding-list.ts";

const DEFAULT_PERIOD_MS = 24 * 60 * 60 * 1000;

type ReconciliationQuery = {
  since?: string | undefined;
  after?: string | undefined;
  limit: number;
  max_seconds: number;
};

export async function compareInstallation(
  services: ComparisonDependencies,
  { since, after, limit, max_seconds }: ReconciliationQuery,
): Promise<Reconciliation> {
  const { clock, providers, deadlineSeconds } = services;
  const findings = createFindingList({ after, limit });
  const start = since === undefined ? clock.now() - DEFAULT_PERIOD_MS : Date.parse(since);
  const endsAt = clock.monotonic() + max_seconds * 1000;
  const scope: ComparisonScope = {
    ...{ since: new Date(start), after, findings },
    // A run may wait and work for as long each.
    openSince: new Date(start - 2 * deadlineSeconds * 1000),
    isOver: () => clock.monotonic() >= endsAt,
  };
  const comparisons = await Promise.all([
    compareFiles(services, scope),
    compareAssets(services, scope),
    compareCharges(services, scope),
    ...providers.enabled.map((enabledProvider) => compareJobs(services, scope, enabledProvider)),
  ]);
  return { since: scope.since.toISOString(), ...findings.page(), comparisons };
}
