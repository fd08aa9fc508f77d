// Accepts a run: checks what it refers to, plans it, and writes row, key and event in one statement. When this has
// answered, the run will be carried to its end whatever crashes.
import { createHash } from "node:crypto";
import {
  type Caller,
  findIdempotencyKey,
  findRun,
  findRuns,
  insertRun,
  type NewRun,
  type OpenRunLimits,
  type RunRow,
  type StoredAsset,
} from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import type { Routing } from "../kit/fields.ts";
import type { Job, Operation, ParameterAdjustment, Source } from "../kit/operation.ts";
import type { ParsedInput } from "../kit/parse.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import { checkMask } from "./check-mask.ts";
import { checkMaxCost, listAcceptedPrices, logExhaustedBudget, resolveSpender, toMicrodollars } from "./cost.ts";
import { resolveModels } from "./custom-models.ts";
import { estimatePlan } from "./estimate.ts";
import { deriveId } from "./ids.ts";
import { isRunOpen } from "./render-run.ts";
import { buildRunWebhook } from "./run-webhook.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";
import type { Services } from "./services.ts";
import { stageInlineImages } from "./stage-inline-images.ts";

const MAX_TREE_DEPTH = 64;

export type RunRequest = {
  operation: Operation;
  parsed: ParsedInput;
  idempotencyKey?: string | undefined;
  isStrict: boolean;
  /** Counts a new run against the caller's rates, or refuses it. A replay is not counted. */
  admit?: () => Promise<void>;
  mostOpen?: OpenRunLimits | undefined;
};
export type AcceptedRun = { row: RunRow; isReplay: boolean };

export async function acceptRun(services: Services, caller: Caller, request: RunRequest): Promise<AcceptedRun> {
  const { operation } = request;
  const fingerprint = fingerprintRequest(operation.name, request.parsed.provided);
  const replay =
    request.idempotencyKey && (await findReplayedRun(services, caller, request.idempotencyKey, fingerprint));
  if (replay) return replay;

  await request.admit?.();
  const run_id = services.newId();
  const { parsed, files, discard: undo } = await stageInlineImages(services, { ...caller, run_id }, request.parsed);
  try {
    const run = await buildNewRun(services, caller, { ...request, parsed, files }, run_id);
    services.crashPoint("request_read");
    const idempotency = request.idempotencyKey ? { key: request.idempotencyKey, fingerprint } : undefined;
    const row = await insertRun(services.db, { ...run, idempotency, mostOpen: request.mostOpen });
    services.crashPoint("committed");
    if (!row) {
      await undo();
      return (await findReplayedRun(services, caller, request.idempotencyKey!, fingerprint))!;
    }
    services.queued.notify(`${row.tenant_id}/${run.lane}`);
    return { row, isReplay: false };
  } catch (thrown) {
    await undo().catch(() => {});
    // Whoever had this key first may have spent the last of it, or taken the last place: then this is the same run once
    // more, not a refusal.
    const first =
      isLimitFault(thrown) &&
      request.idempotencyKey &&
      findReplayedRun(services, caller, request.idempotencyKey, fingerprint);
    const accepted = first ? await first : undefined;
    if (accepted) return accepted;
    logExhaustedBudget(services, caller, thrown);
    throw thrown;
  }
}

const isLimitFault = (thrown: unknown) => thrown instanceof Fault && (thrown.status === 402 || thrown.status === 429);

type StagedRunRequest = RunRequest & { files: StoredAsset[] };

async function buildNewRun(
  services: Services,
  caller: Caller,
  request: StagedRunRequest,
  run_id: string,
): Promise<NewRun> {
  const { operation, parsed } = request;
  const routing = parsed.input.routing as Routing | undefined;
  const planned = operation.plan!(parsed.input, parsed.provided).map((job) => ({
    ...job,
    ...(routing && { routing }),
  }));
  const { plan, warnings: modelWarnings } = await resolveModels(services, caller, planned);
  const selectedOffers = plan.map((job) => selectOffer(services, job));
  const offers = plan.map((job, n) => resolveOffer(services, selectedOffers[n]!, job));
  const estimate = estimatePlan(plan.map((job, n) => ({ job, offer: offers[n]!.offer }))).amount;
  const adjustments = [
    ...listParameterAdjustments(operation, parsed),
    ...plan.flatMap((job, n) => adjustParameters(job, offers[n]!.offer).changes),
  ];
  if (request.isStrict && adjustments.length > 0) throw strictHandlingFault(adjustments);
  const parentId = operation.parent?.(parsed.input);
  const treePosition = await resolveTreePosition(services, caller, parentId);
  const sources = await assertSourcesUsable(services, caller, plan, request.files);
  checkMaxCost(estimate, parsed.input.max_cost as number | undefined);
  const { webhook_secret, metadata, webhook_url, ...inputs } = parsed.input;
  const webhook = buildRunWebhook(services, { ...caller, run_id }, { webhook_url, webhook_secret });
  return {
    ...caller,
    run_id,
    operation: operation.name,
    run_type: operation.run_type!,
    inputs: { ...inputs, ...(webhook_url !== undefined && { webhook_url }) },
    plan: plan.map((job, n) => ({ ...job, prices: listAcceptedPrices(services, job, offers[n]!) })),
    metadata: (metadata as JsonObject | undefined) ?? {},
    ...webhook,
    warnings: [
      ...adjustments.map(({ message }) => message),
      ...modelWarnings,
      ...(operation.warnings?.(parsed.input, parsed.provided) ?? []),
    ],
    parent_run_id: treePosition.parent_run_id,
    root_run_id: treePosition.root_run_id ?? run_id,
    depth: treePosition.depth,
    references: sources.filter((source) => source !== parentId),
    model: plan[0]!.model,
    provider: selectedOffers[0]!.provider,
    lane: selectedOffers[0]!.provider,
    deadlineSeconds: operation.deadlineSeconds ?? services.limits.deadlineSeconds,
    event_id: deriveId(run_id, "run.queued"),
    estimate: toMicrodollars(estimate),
    ...(await resolveSpender(services, caller)),
  };
}

/** The run that this key already stands for, in whatever state it is now. */
export async function findReplayedRun(
  services: Services,
  caller: Caller,
  key: string,
  fingerprint: Buffer,
): Promise<AcceptedRun | undefined> {
  const known = await findIdempotencyKey(services.db, caller.tenant_id, key);
  if (!known) return undefined;
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const row = await findRun(services.db, caller.tenant_id, known.resource_id);
  if (!row) throw new Fault("idempotency_in_progress");
  if (row.deleted_at) throw new Fault("run_deleted");
  return { row, isReplay: true };
}

/** What was asked, in a form that does not depend on the order of fields or on how the caller wants to be answered. */
export function fingerprintRequest(operation: string, given: JsonObject): Buffer {
  const { sync: _sync, ...rest } = given;
  return createHash("sha256")
    .update(`${operation} ${canonicalJson(rest)}`)
    .digest();
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([field, each]) => each !== undefined && field !== "path");
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, each]) => `${JSON.stringify(field)}:${canonicalJson(each)}`)
    .join(",")}}`;
}

/** What was given and cannot be honoured as it stands. */
const listParameterAdjustments = (operation: Operation, { input, provided }: ParsedInput): ParameterAdjustment[] => [
  ...(operation.unusedFields?.(input, provided) ?? []).map((field) => ({
    field,
    message: `${field} is not used by this model.`,
  })),
  ...(operation.adjustments?.(input, provided) ?? []),
];

const strictHandlingFault = (misfits: ParameterAdjustment[]) =>
  new Fault("unsupported_parameter", {
    errors: misfits.map(({ field, message }) => ({
      path: `/${field}`,
      code: "unsupported_parameter",
      message,
    })),
  });

export async function resolveTreePosition(services: Services, caller: Caller, parentId: string | undefined) {
  if (!parentId) return { depth: 1 };
  const parent = await findRun(services.db, caller.tenant_id, parentId);
  if (!parent) throw new Fault("run_not_found");
  if (parent.deleted_at) throw new Fault("run_deleted");
  if (parent.depth >= MAX_TREE_DEPTH) throw new Fault("tree_too_deep");
  return { parent_run_id: parentId, root_run_id: parent.root_run_id, depth: parent.depth + 1 };
}

/**
 * Addresses must be such as may be fetched. Runs that are used as sources must be the caller's own, ended, and hold a
 * picture. Masks are held against their pictures as far as both are ours already; the rest is seen when it has been
 * fetched.
 */
async function assertSourcesUsable(
  services: Services,
  caller: Caller,
  plan: Job[],
  files: StoredAsset[],
): Promise<string[]> {
  const sources = plan.flatMap((job) => [...(job.images ?? []), ...(job.masks ?? []), ...(job.mask ? [job.mask] : [])]);
  const ids = [...new Set(sources.flatMap((source: Source) => ("run" in source ? [source.run] : [])))];
  const addresses = sources.flatMap((source: Source) => ("url" in source ? [source.url] : []));
  for (const url of addresses) if (!services.ownAsset(url)) services.checkUrl(url);
  const rows = ids.length > 0 ? await findRuns(services.db, caller.tenant_id, ids) : [];
  if (rows.length < ids.length) throw new Fault("run_not_found");
  for (const row of rows) {
    if (row.deleted_at) throw new Fault("run_deleted", { run_id: row.run_id });
    if (isRunOpen(row)) throw new Fault("run_not_ready", { run_id: row.run_id });
    if (row.expires_at && row.expires_at.getTime() <= Date.now())
      throw new Fault("asset_expired", { run_id: row.run_id });
    if (!row.result?.outputs.length) throw new Fault("source_run_failed", { run_id: row.run_id });
  }
  const known = (source: Source) => {
    if ("asset" in source) return files.find((file) => file.asset_id === source.asset);
    return "run" in source ? rows.find((row) => row.run_id === source.run)?.result?.outputs[0] : undefined;
  };
  for (const job of plan) checkMask(job, known);
  return ids;
}
