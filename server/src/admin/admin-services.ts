// The services for operations of operators, on behalf of one caller. Every change leaves an audit entry.
import type { RequestContext } from "../access/request-context.ts";
import type { AdminServices } from "../kit/admin-services.ts";
import { compareInstallation } from "../runs/compare/compare-installation.ts";
import type { ComparisonDependencies } from "../runs/compare/comparison-scope.ts";
import { type ExplainDependencies, explainRun } from "./explain-run.ts";
import { listPausedParts, type PauseDependencies, pausePart, rebuildEngine, resumePart } from "./pauses.ts";
import { type ArchiveQueryDependencies, queryArchiveForOperator } from "./query-archive.ts";
import {
  endRunByOperator,
  listUnknownOutcomesForOperator,
  quarantineRunByOperator,
  type RepairDependencies,
  retryRunByOperator,
  settleOutcomeByOperator,
} from "./repair-runs.ts";
import { listSetAsideEventsForOperator, skipEventByOperator } from "./set-aside-events.ts";
import { listWorkersForOperator } from "./workers.ts";

export type AdminDependencies = ExplainDependencies &
  RepairDependencies &
  PauseDependencies &
  ArchiveQueryDependencies &
  Omit<ComparisonDependencies, "database">;

export const createAdminServices = (dependencies: AdminDependencies, context: RequestContext): AdminServices => ({
  explain: (runId) => explainRun(dependencies, context, runId),
  end: (runId) => endRunByOperator(dependencies, context, runId),
  retry: (runId) => retryRunByOperator(dependencies, context, runId),
  quarantine: (runId) => quarantineRunByOperator(context, runId),
  listUnknownOutcomes: (page) => listUnknownOutcomesForOperator(context, page),
  settle: (outcome) => settleOutcomeByOperator(context, outcome),
  listPauses: () => listPausedParts(context),
  pause: (part) => pausePart(dependencies, context, part),
  resume: (part) => resumePart(dependencies, context, part),
  listWorkers: () => listWorkersForOperator(context),
  listSetAsideEvents: (limit) => listSetAsideEventsForOperator(context, limit),
  skipEvent: (eventId) => skipEventByOperator(context, eventId),
  queryArchive: (query) => queryArchiveForOperator(dependencies, context, query),
  reconcile: (query) => compareInstallation({ ...dependencies, database: context.database }, query),
  rebuild: () => rebuildEngine(dependencies, context),
});
