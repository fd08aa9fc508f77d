// Finds jobs in a provider's own list that the database does not know: they are paid, and no run has their result. Jobs
// of other programs that use the same account have no key of ours and are not compared.

import type { Comparison } from "../../../contract/schemas/reconciliation.ts";
import { findKnownRuns, type KnownAttempt, listKnownAttempts } from "../../../db/admin/compare-installation.ts";
import type { ListedJob, Ticket } from "../../../providers/provider.ts";
import { attemptKey, toAttemptRef } from "../../core/ids.ts";
import type { EnabledProvider } from "../../offers/provider-registry.ts";
import type { ComparisonDependencies, ComparisonScope } from "./comparison-scope.ts";

const KEY_PATTERN = /^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.\d+\.\d+$/;
/** Tolerance for differences between the clock of a provider and ours. */
const CLOCK_MARGIN_MS = 10 * 60 * 1000;
/** A list is not about an attempt, but every call of an adapter has one. */
const NO_ATTEMPT = toAttemptRef("00000000-0000-0000-0000-000000000000", 0, 0);

type OurJob = { ticket: Ticket; key: string; run_id: string; created_at: string | null };

export async function compareJobs(
  { database, providers, log }: Pick<ComparisonDependencies, "database" | "providers" | "log">,
  scope: ComparisonScope,
  enabledProvider: EnabledProvider,
): Promise<Comparison> {
  const { provider } = enabledProvider;
  const comparison: Comparison = { of: "jobs", provider: provider.id, state: "complete", compared: 0 };
  if (!provider.listJobs) return { ...comparison, state: "unsupported" };
  try {
    for (let next: string | undefined; ; ) {
      if (scope.isOver()) return { ...comparison, state: "incomplete" };
      const context = providers.createContext(enabledProvider, NO_ATTEMPT);
      const page = await provider.listJobs({ since: scope.since, next }, context);
      const jobs = page.jobs.flatMap((job) => toOurJob(job, scope.since.getTime() - CLOCK_MARGIN_MS));
      await addUnknownJobs(database, scope, { provider: provider.id, jobs });
      comparison.compared += jobs.length;
      next = page.next;
      if (next === undefined) return comparison;
    }
  } catch (thrown) {
    log.warn({ err: thrown, of: "jobs", provider: provider.id }, "a comparison failed");
    return { ...comparison, state: "failed" };
  }
}

/** Some lists begin before the period. A job without a time is compared. */
const toOurJob = ({ ticket, key, created_at }: ListedJob, earliest: number): OurJob[] => {
  const run_id = key && KEY_PATTERN.exec(key)?.[1];
  const acceptedAt = Date.parse(created_at ?? "");
  if (!key || !run_id || acceptedAt < earliest) return [];
  return [{ ticket, key, run_id, created_at: Number.isNaN(acceptedAt) ? null : new Date(acceptedAt).toISOString() }];
};

async function addUnknownJobs(
  database: ComparisonDependencies["database"],
  { findings }: ComparisonScope,
  { provider, jobs }: { provider: string; jobs: OurJob[] },
): Promise<void> {
  if (jobs.length === 0) return;
  const runIds = jobs.map(({ run_id }) => run_id);
  const attempts = new Map(
    (await listKnownAttempts(database, provider, runIds)).map((attempt) => [attemptKey(attempt), attempt]),
  );
  const unknown = jobs.filter(({ key, ticket }) => !hasJob(attempts.get(key), ticket));
  const runs = await findKnownRuns(
    database,
    unknown.map(({ run_id }) => run_id),
  );
  for (const { run_id, key, ticket, created_at } of unknown) {
    const run = runs.get(run_id);
    const ofKnownRun = attempts.has(key) ? "job_twice" : "job_without_attempt";
    findings.add({
      ...{ run_id, tenant_id: run?.tenant_id ?? null, run_status: run?.status ?? null },
      finding: run ? ofKnownRun : "job_without_run",
      job: { provider, ticket, idempotency_key: key, created_at },
    });
  }
}

/** An attempt without a ticket is not resolved yet: its run looks the job up. */
const hasJob = (attempt: KnownAttempt | undefined, ticket: Ticket): boolean =>
  attempt !== undefined &&
  (attempt.ticket === null || Object.entries(ticket).every(([name, value]) => attempt.ticket![name] === value));
