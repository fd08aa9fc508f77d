// What operators can do with the runs and parts of an installation, on behalf of one caller with a `tenants` scope.
import type { RunExplanation } from "./schemas/admin.ts";
import type {
  PausedPart,
  PauseList,
  RebuiltEngine,
  RepairedRun,
  SetAsideEventList,
  SettledOutcome,
  SkippedEvent,
  UnknownOutcomeList,
} from "./schemas/admin-repairs.ts";
import type { ArchivedRunList } from "./schemas/archive.ts";
import type { Reconciliation } from "./schemas/reconciliation.ts";
import type { WorkerList } from "./schemas/workers.ts";

export type ArchiveQuery = {
  reason: string;
  run_id?: string | undefined;
  tenant_id?: string | undefined;
  day?: string | undefined;
  after?: string | undefined;
  limit: number;
};

export type ReconciliationQuery = {
  since?: string | undefined;
  after?: string | undefined;
  limit: number;
  max_seconds: number;
};

export type AdminServices = {
  /** Everything that happened to a run of any tenant. */
  explain(runId: string): Promise<RunExplanation>;
  /** Ends an open run as failed. Its jobs are canceled at their providers where possible. */
  end(runId: string): Promise<RepairedRun>;
  /** Returns an open run to the queue, under a new epoch. */
  retry(runId: string): Promise<RepairedRun>;
  /** Takes an open run out of execution until it is retried or ended. */
  quarantine(runId: string): Promise<RepairedRun>;
  listUnknownOutcomes(page: { before?: string | undefined; limit: number }): Promise<UnknownOutcomeList>;
  /** Records what a provider charged for an attempt whose outcome was unknown. */
  settle(outcome: { run_id: string; job: number; try: number; charged: number }): Promise<SettledOutcome>;
  listPauses(): Promise<PauseList>;
  pause(part: PausedPart): Promise<PauseList>;
  resume(part: PausedPart): Promise<PauseList>;
  /** The workers that run now. */
  listWorkers(): Promise<WorkerList>;
  /** Events that cannot become webhook messages. */
  listSetAsideEvents(limit: number): Promise<SetAsideEventList>;
  skipEvent(eventId: string): Promise<SkippedEvent>;
  /** Archived runs of all tenants, in the order of their ids. */
  queryArchive(query: ArchiveQuery): Promise<ArchivedRunList>;
  /** What the database, the storage, the ledger and the providers disagree about. */
  reconcile(query: ReconciliationQuery): Promise<Reconciliation>;
  /** Starts all open runs and deliveries in the engine again. */
  rebuild(): Promise<RebuiltEngine>;
};
