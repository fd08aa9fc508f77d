// Accepts a run: checks its references, plans it, and inserts the run, its idempotency key and its event in one
// statement. Once this has returned, the run is executed to its end even if processes crash.

import type { Routing } from "../../contract/fields.ts";
import type { ImportedModel, Job, Operation, Source } from "../../contract/operation.ts";
import type { ParsedInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Caller } from "../../db/access/caller.ts";
import { type Database, isRolledBack } from "../../db/connect.ts";
import type { StorageLimits } from "../../db/files/storage-usage.ts";
import { insertRun, type NewRun, type OpenRunLimits } from "../../db/runs/insert-run.ts";
import { findRun, findRuns, type RunRow } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import { knownSize } from "../../files/formats/image-size.ts";
import { identifyRequest } from "../../idempotency/create-once.ts";
import type { ExhaustedBudgetLog } from "../../money/exhausted-budget-log.ts";
import type { OutboundHttp } from "../../outbound/outbound-http.ts";
import { describeModels } from "../../providers/resolve-model.ts";
import { deriveId } from "../core/ids.ts";
import type { Notifications } from "../core/notifications.ts";
import type { RunSettings } from "../core/run-settings.ts";
import { describeQueueSpan } from "../core/run-spans.ts";
import type { Runtime } from "../core/runtime.ts";
import { checkMaxCost, listAcceptedPrices, resolveSpender, toMicrodollars } from "../offers/cost.ts";
import type { ProviderRegistry } from "../offers/provider-registry.ts";
import { resolveOffer, selectOffer } from "../offers/select-offer.ts";
import { isRunOpen } from "../show/render-run.ts";
import { checkMask } from "../sources/check-mask.ts";
import { checkUpscale } from "../sources/check-upscale.ts";
import {
  linkPlan,
  linkStoredFiles,
  listSources,
  requireOutput,
  type StoredSources,
  sourceRunId,
} from "../sources/source-files.ts";
import { addSourceSizes } from "../sources/source-sizes.ts";
import { type StagingDependencies, stageInlineFiles } from "../sources/stage-inline-files.ts";
import { type Attribution, resolveAttribution } from "./attribution.ts";
import { type AllowedLoras, resolveCustomModels } from "./custom-models.ts";
import { estimatePlan, offerToReserve } from "./estimate.ts";
import { expandPlan } from "./expand-plan.ts";
import { judgeParameters, markDefaults } from "./judge-parameters.ts";
import {
  checkModelName,
  type ImportedModelDependencies,
  requireImportedModel,
  warnOfSuccessors,
} from "./model-name.ts";
import { buildRunWebhook, type WebhookPolicy } from "./run-webhook.ts";

const MAX_TREE_DEPTH = 64;
/** Fields that are stored sealed and never shown. */
const SECRET_FIELDS = ["webhook_secret"];

/** What makes two requests the same: the called operation and its input. */
export type RequestIdentity = { operation: string; input: JsonObject };

export type RunRequest = {
  operation: Operation;
  parsed: ParsedInput;
  /** Default: the operation and its input. */
  identity?: RequestIdentity;
  /** The parent of the run, whatever its sources are. */
  parentRunId?: string;
  /** What counts if the request names nothing else. */
  attribution?: Attribution;
  idempotencyKey?: string | undefined;
  isStrict: boolean;
  /** Throws to refuse a new run because of its estimated cost in US dollars, or null if a price is unknown. */
  checkEstimate?: (estimate: number | null) => void;
  /** Counts a new run against the rate limits of the caller, or throws. Not called for a replay. */
  consumeRateLimit?: () => Promise<void>;
  openRunLimits?: OpenRunLimits | undefined;
  storageLimits?: StorageLimits | undefined;
};
export type AcceptedRun = { row: RunRow; isReplay: boolean };

type PlanDependencies = StoredSources &
  ImportedModelDependencies &
  Pick<Runtime, "clock"> & {
    http: OutboundHttp;
    providers: ProviderRegistry;
    webhooks: WebhookPolicy;
    loras: AllowedLoras;
    settings: RunSettings;
  };
/** What accepting a run uses. `database` is scoped to the tenant of the caller. */
export type AcceptDependencies = PlanDependencies &
  StagingDependencies &
  Pick<Runtime, "ids" | "crashPoint" | "tracing"> & {
    notifications: Notifications;
    logExhaustedBudget: ExhaustedBudgetLog;
  };

export async function acceptRun(
  services: AcceptDependencies,
  caller: Caller,
  request: RunRequest,
): Promise<AcceptedRun> {
  const { database } = services;
  const identity = request.identity ?? { operation: request.operation.name, input: request.parsed.provided };
  const { idempotency, findReplay } = identifyRun(database, caller, { ...request, identity });
  const replay = await findReplay();
  if (replay) return replay;

  await request.consumeRateLimit?.();
  const run_id = services.ids.next();
  const { storageLimits } = request;
  const imported = await requireImportedModel(services, request.operation, request.parsed.input, caller.tenant_id);
  // A concurrent request with the same idempotency key may have used up the budget, the limit of open runs or the
  // storage quota. Then this request is its replay, not a refusal.
  const findConcurrentReplay = async (thrown: unknown) => (isLimitFault(thrown) ? findReplay() : undefined);
  // Files of a run that is not accepted yet belong to no end user.
  const staging = { ...services, database: database.forTenant(caller.tenant_id) };
  const staged = await stageInlineFiles(staging, { ...caller, run_id, storageLimits }, request.parsed, imported).catch(
    async (thrown) => {
      const concurrentReplay = await findConcurrentReplay(thrown);
      if (!concurrentReplay) throw thrown;
      return concurrentReplay;
    },
  );
  if ("isReplay" in staged) return staged;
  const { parsed, files, discard } = staged;
  let isCertainlyRefused = true;
  try {
    const run = await buildNewRun(services, caller, { ...request, parsed, files, imported }, run_id);
    services.crashPoint("request_read");
    const newRun = { ...run, idempotency, openRunLimits: request.openRunLimits, storageLimits };
    const row = await insertTraced(services, newRun).catch(async (thrown) => {
      isCertainlyRefused = isRefusal(thrown);
      const accepted = isCertainlyRefused ? undefined : await findAcceptedRun(database, newRun);
      if (!accepted) throw thrown;
      return accepted;
    });
    isCertainlyRefused = row === undefined;
    services.crashPoint("committed");
    if (!row) {
      await discard();
      return (await findReplay())!;
    }
    services.notifications.runQueued({ tenant_id: row.tenant_id, lane: run.lane });
    return { row, isReplay: false };
  } catch (thrown) {
    // The images of a run that may have been accepted stay. The sweep of staged runs deletes them if it was not.
    if (isCertainlyRefused) await discard().catch(() => {});
    const concurrentReplay = await findConcurrentReplay(thrown);
    if (concurrentReplay) return concurrentReplay;
    services.logExhaustedBudget(caller, thrown);
    throw thrown;
  }
}

/** The run keeps the context of its trace: everything that happens to it later is a part of the same trace. */
const insertTraced = ({ database, tracing }: Pick<AcceptDependencies, "database" | "tracing">, run: NewRun) =>
  tracing.inSpan(describeQueueSpan("send", run), () =>
    insertRun(database, { ...run, traceparent: tracing.traceparent() }),
  );

/** The stored form of the request's idempotency key, and the search for the run that it created before. */
export const identifyRun = (
  database: Database,
  caller: Caller,
  { idempotencyKey, identity }: Pick<RunRequest, "idempotencyKey"> & { identity: RequestIdentity },
) =>
  identifyRequest<AcceptedRun>(
    { database, caller, idempotencyKey },
    {
      ...identity,
      kind: "run",
      async find(runId) {
        const row = await findReplayedRun(database, caller, runId);
        return row && { row, isReplay: true };
      },
    },
  );

/** Whether the statement that accepts the run certainly had no effect. A lost response may have followed a COMMIT. */
const isRefusal = (thrown: unknown) =>
  isRolledBack(thrown) || (thrown instanceof Fault && thrown.code !== "dependency_unavailable");

/** Undefined if the run does not exist or PostgreSQL cannot be asked. */
const findAcceptedRun = (database: Database, { tenant_id, run_id }: NewRun) =>
  findRun(database, tenant_id, run_id).catch(() => undefined);

const isLimitFault = (thrown: unknown) =>
  thrown instanceof Fault &&
  (thrown.status === 402 || thrown.status === 429 || thrown.code === "storage_quota_exceeded");

type StagedRunRequest = RunRequest & { files: StoredAsset[]; imported: ImportedModel | undefined };

async function buildNewRun(
  services: PlanDependencies,
  caller: Caller,
  request: StagedRunRequest,
  run_id: string,
): Promise<NewRun> {
  const { operation, parsed, imported } = request;
  const attribution = resolveAttribution(caller, parsed.input, request.attribution);
  const routing = parsed.input.routing as Routing | undefined;
  const models = { ...describeModels(services.providers.enabled), imported };
  const planned = operation.plan!(parsed.input, parsed.provided, models);
  checkModelName(services, operation, parsed.input, planned);
  const jobs = planned.map((job) => ({
    ...markDefaults(job, parsed.provided),
    ...(routing && { routing }),
    ...(request.isStrict && { is_strict: true }),
  }));
  const { plan: jobsWithModels, warnings: modelWarnings } = await resolveCustomModels(services, caller, jobs);
  const plannedSources = jobsWithModels.flatMap(listSources);
  const link = await linkStoredFiles(services, caller.tenant_id, plannedSources, request.files);
  const linkedJobs = linkPlan(jobsWithModels, link);
  const sizedJobs = await addSourceSizes(services, caller.tenant_id, linkedJobs, request.files);
  const { plan, adjustments: planAdjustments } = expandPlan(services, sizedJobs);
  const selectedOffers = plan.map((job) => selectOffer(services, job));
  const offers = plan.map((job, jobIndex) => resolveOffer(services, selectedOffers[jobIndex]!, job));
  const plannedJobs = plan.map((job, jobIndex) => ({ job, offer: offers[jobIndex]!.offer }));
  const estimate = estimatePlan(
    plan.map((job, jobIndex) => ({ job, offer: offerToReserve(services, job, offers[jobIndex]!) })),
  ).amount;
  const { isStrict } = request;
  const adjustments = judgeParameters(operation, parsed, { plan: plannedJobs, planAdjustments, models, isStrict });
  const treePosition = await findTreePosition(services.database, caller, { ...request, plan, link });
  const sources = await assertSourcesUsable(services, caller, plan, request.files);
  checkMaxCost(estimate, parsed.input.max_cost as number | undefined);
  request.checkEstimate?.(estimate);
  const { inputs, metadata, ...webhookFields } = splitInput(parsed.input);
  const webhook = buildRunWebhook(services.webhooks, { ...caller, run_id }, webhookFields);
  return {
    ...caller,
    run_id,
    ...attribution,
    operation: operation.name,
    run_type: operation.run_type!,
    inputs,
    given_fields: Object.keys(parsed.provided).filter((field) => !SECRET_FIELDS.includes(field)),
    plan: plan.map((job, jobIndex) => ({ ...job, prices: listAcceptedPrices(services, job, offers[jobIndex]!) })),
    metadata: (metadata as JsonObject | undefined) ?? {},
    ...webhook,
    warnings: [
      ...adjustments.map(({ message }) => message),
      ...modelWarnings,
      ...warnOfSuccessors(plan.map((job, jobIndex) => ({ job, resolved: offers[jobIndex]! }))),
      ...(operation.warnings?.(parsed.input, parsed.provided) ?? []),
    ],
    parent_run_id: treePosition.parent_run_id,
    root_run_id: treePosition.root_run_id ?? run_id,
    depth: treePosition.depth,
    references: sources.filter((source) => source !== treePosition.parent_run_id),
    model: jobs[0]!.model,
    schema_hash: imported?.hash,
    provider: selectedOffers[0]!.provider,
    lane: selectedOffers[0]!.provider,
    deadlineSeconds: operation.deadlineSeconds ?? services.settings.timeouts.deadlineSeconds,
    event_id: deriveId(run_id, "run.queued"),
    estimate: toMicrodollars(estimate),
    ...(await resolveSpender(services.database, caller)),
  };
}

/** What has columns of its own is no part of the stored input. */
function splitInput({
  webhook_secret,
  metadata,
  end_user: _user,
  customer: _customer,
  tags: _tags,
  ...inputs
}: JsonObject) {
  return { inputs, metadata, webhook_secret, webhook_url: inputs.webhook_url };
}

/** The run that an earlier request with the same idempotency key created, in its current state. */
export async function findReplayedRun(database: Database, caller: Caller, runId: string): Promise<RunRow | undefined> {
  const row = await findRun(database, caller.tenant_id, runId);
  if (row?.deleted_at) throw new Fault("run_deleted");
  return row;
}

/** Throws if the parent is not a run of the caller's tenant, was deleted, or is at the maximum depth. */
export async function resolveTreePosition(database: Database, caller: Caller, parentId: string | undefined) {
  if (!parentId) return { depth: 1 };
  const parent = await findRun(database, caller.tenant_id, parentId);
  if (!parent) throw new Fault("run_not_found");
  if (parent.deleted_at) throw new Fault("run_deleted");
  if (parent.depth >= MAX_TREE_DEPTH) throw new Fault("tree_too_deep");
  return { parent_run_id: parent.run_id, root_run_id: parent.root_run_id, depth: parent.depth + 1 };
}

type TreePosition = { parent_run_id?: string; root_run_id?: string; depth: number };
type PlannedRun = Pick<RunRequest, "operation" | "parsed" | "parentRunId"> & {
  plan: Job[];
  link: (source: Source) => Source;
};

/**
 * The parent is the run that is repeated, the run that the caller named, or else the run of the image that the
 * operation derives from. Only a named run is refused as a parent: an image of a tree at its maximum depth is a
 * reference instead.
 */
async function findTreePosition(
  database: Database,
  caller: Caller,
  { operation, parsed, parentRunId, plan, link }: PlannedRun,
): Promise<TreePosition> {
  const namedRunId = operation.parent?.(parsed.input);
  if (parentRunId) {
    // A named run must exist, also if it does not become the parent.
    await resolveTreePosition(database, caller, namedRunId);
    return resolveTreePosition(database, caller, parentRunId);
  }
  if (namedRunId || !operation.parent) return resolveTreePosition(database, caller, namedRunId);
  const source = operation.parentSource ? operation.parentSource(parsed.input) : plan[0]?.images?.[0];
  const sourceId = sourceRunId(source && link(source));
  const row = sourceId === undefined ? undefined : await findRun(database, caller.tenant_id, sourceId);
  if (!row || row.deleted_at || row.depth >= MAX_TREE_DEPTH) return { depth: 1 };
  return { parent_run_id: row.run_id, root_run_id: row.root_run_id, depth: row.depth + 1 };
}

/**
 * Checks the sources of a plan and returns the ids of the runs that they belong to. URLs must be allowed. Runs must
 * belong to the caller's tenant, have ended, and have an image at the given index. Masks are compared with their image
 * as far as both are stored already; the rest is checked when the sources have been fetched.
 */
async function assertSourcesUsable(
  { database, assets, http, clock }: PlanDependencies,
  caller: Caller,
  plan: Job[],
  files: StoredAsset[],
): Promise<string[]> {
  const sources = plan.flatMap(listSources);
  const runSources = sources.filter((source) => "run" in source);
  const ids = [...new Set(runSources.map(({ run }) => run.toLowerCase()))];
  const urls = sources.flatMap((source: Source) => ("url" in source ? [source.url] : []));
  for (const url of urls) if (!assets.findIdByUrl(url)) http.checkUrl(url);
  const allIds = [...new Set(sources.flatMap((source) => sourceRunId(source) ?? []))];
  const linkedRows = allIds.length > 0 ? await findRuns(database, caller.tenant_id, allIds) : [];
  const rows = linkedRows.filter(({ run_id }) => ids.includes(run_id));
  if (rows.length < ids.length) throw new Fault("run_not_found");
  for (const row of rows) {
    if (row.deleted_at) throw new Fault("run_deleted", { run_id: row.run_id });
    if (isRunOpen(row)) throw new Fault("run_not_ready", { run_id: row.run_id });
    if (row.expires_at && row.expires_at.getTime() <= clock.now())
      throw new Fault("asset_expired", { run_id: row.run_id });
    for (const source of runSources) if (source.run.toLowerCase() === row.run_id) requireOutput(row, source);
  }
  const findKnownSize = (source: Source) => {
    const row = rows.find(({ run_id }) => run_id === sourceRunId(source));
    const file =
      "asset" in source
        ? files.find((each) => each.asset_id === source.asset)
        : row && "run" in source && requireOutput(row, source);
    return file ? knownSize(file) : undefined;
  };
  for (const job of plan) {
    checkMask(job, findKnownSize);
    checkUpscale(job, () => job.source_size);
  }
  return linkedRows.map(({ run_id }) => run_id);
}
