// Accepts a run: checks what it refers to, plans it, and writes row, key and event in one statement. When this has
// answered, the run will be carried to its end whatever crashes.
import { createHash } from "node:crypto";
import {
  acceptRun,
  type Caller,
  findKey,
  findRun,
  findRuns,
  type KeptAsset,
  type MostOpen,
  type NewRun,
  type RunRow,
} from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { Routing } from "../kit/fields.ts";
import type { Adapted, Job, Operation, Source } from "../kit/operation.ts";
import type { Parsed } from "../kit/parse.ts";
import type { Json } from "../kit/shapes.ts";
import { fit } from "../providers/fit.ts";
import { checkMask } from "./check-mask.ts";
import { chooseOffer, chosen } from "./choose.ts";
import { resolveModels } from "./custom-models.ts";
import { estimateOf } from "./estimate.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { checkMaxCost, freezePrices, microsOf, spenderOf, tellSpent } from "./money.ts";
import { isOpen } from "./show.ts";
import { stageInline } from "./stage.ts";
import { webhookOf } from "./webhook.ts";

const DEEPEST = 64;

export type Asked = {
  operation: Operation;
  parsed: Parsed;
  idempotencyKey?: string | undefined;
  isStrict: boolean;
  /** Counts a new run against the caller's rates, or refuses it. A replay is not counted. */
  admit?: () => Promise<void>;
  mostOpen?: MostOpen | undefined;
};
export type Accepted = { row: RunRow; isReplay: boolean };

export async function startRun(house: House, caller: Caller, asked: Asked): Promise<Accepted> {
  const { operation } = asked;
  const fingerprint = fingerprintOf(operation.name, asked.parsed.given);
  const replay = asked.idempotencyKey && (await findReplay(house, caller, asked.idempotencyKey, fingerprint));
  if (replay) return replay;

  await asked.admit?.();
  const run_id = house.newId();
  const { parsed, files, undo } = await stageInline(house, { ...caller, run_id }, asked.parsed);
  try {
    const run = await planRun(house, caller, { ...asked, parsed, files }, run_id);
    house.moment("request_read");
    const idempotency = asked.idempotencyKey ? { key: asked.idempotencyKey, fingerprint } : undefined;
    const row = await acceptRun(house.db, { ...run, idempotency, mostOpen: asked.mostOpen });
    house.moment("committed");
    if (!row) {
      await undo();
      return (await findReplay(house, caller, asked.idempotencyKey!, fingerprint))!;
    }
    house.queued.say(`${row.tenant_id}/${run.lane}`);
    return { row, isReplay: false };
  } catch (thrown) {
    await undo().catch(() => {});
    // Whoever had this key first may have spent the last of it, or taken the last place: then this is the same run once
    // more, not a refusal.
    const first =
      isSpent(thrown) && asked.idempotencyKey && findReplay(house, caller, asked.idempotencyKey, fingerprint);
    const accepted = first ? await first : undefined;
    if (accepted) return accepted;
    tellSpent(house, caller, thrown);
    throw thrown;
  }
}

const isSpent = (thrown: unknown) => thrown instanceof Fault && (thrown.status === 402 || thrown.status === 429);

type Staged = Asked & { files: KeptAsset[] };

async function planRun(house: House, caller: Caller, asked: Staged, run_id: string): Promise<NewRun> {
  const { operation, parsed } = asked;
  const routing = parsed.input.routing as Routing | undefined;
  const planned = operation.plan!(parsed.input, parsed.given).map((job) => ({ ...job, ...(routing && { routing }) }));
  const { plan, notes } = await resolveModels(house, caller, planned);
  const choices = plan.map((job) => chooseOffer(house, job));
  const offers = plan.map((job, n) => chosen(house, choices[n]!, job));
  const estimate = estimateOf(plan.map((job, n) => ({ job, offer: offers[n]!.offer }))).amount;
  const misfits = [...misfitsOf(operation, parsed), ...plan.flatMap((job, n) => fit(job, offers[n]!.offer).changes)];
  if (asked.isStrict && misfits.length > 0) throw refuseMisfits(misfits);
  const parentId = operation.parent?.(parsed.input);
  const place = await placeInTree(house, caller, parentId);
  const sources = await checkSources(house, caller, plan, asked.files);
  checkMaxCost(estimate, parsed.input.max_cost as number | undefined);
  const { webhook_secret, metadata, webhook_url, ...inputs } = parsed.input;
  const webhook = webhookOf(house, { ...caller, run_id }, { webhook_url, webhook_secret });
  return {
    ...caller,
    run_id,
    operation: operation.name,
    run_type: operation.run_type!,
    inputs: { ...inputs, ...(webhook_url !== undefined && { webhook_url }) },
    plan: plan.map((job, n) => ({ ...job, prices: freezePrices(house, job, offers[n]!) })),
    metadata: (metadata as Json | undefined) ?? {},
    ...webhook,
    warnings: [...misfits.map(({ says }) => says), ...notes, ...(operation.notes?.(parsed.input, parsed.given) ?? [])],
    parent_run_id: place.parent_run_id,
    root_run_id: place.root_run_id ?? run_id,
    depth: place.depth,
    references: sources.filter((source) => source !== parentId),
    model: plan[0]!.model,
    provider: choices[0]!.provider,
    lane: choices[0]!.provider,
    deadlineSeconds: operation.deadlineSeconds ?? house.limits.deadlineSeconds,
    event_id: idWithin(run_id, "run.queued"),
    estimate: microsOf(estimate),
    ...(await spenderOf(house, caller)),
  };
}

/** The run that this key already stands for, in whatever state it is now. */
export async function findReplay(
  house: House,
  caller: Caller,
  key: string,
  fingerprint: Buffer,
): Promise<Accepted | undefined> {
  const known = await findKey(house.db, caller.tenant_id, key);
  if (!known) return undefined;
  if (!known.fingerprint.equals(fingerprint)) throw new Fault("idempotency_key_reused");
  const row = await findRun(house.db, caller.tenant_id, known.run_id);
  if (!row) throw new Fault("idempotency_in_progress");
  if (row.deleted_at) throw new Fault("run_deleted");
  return { row, isReplay: true };
}

/** What was asked, in a form that does not depend on the order of fields or on how the caller wants to be answered. */
export function fingerprintOf(operation: string, given: Json): Buffer {
  const { sync: _sync, ...rest } = given;
  return createHash("sha256")
    .update(`${operation} ${canonical(rest)}`)
    .digest();
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([field, each]) => each !== undefined && field !== "path");
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, each]) => `${JSON.stringify(field)}:${canonical(each)}`)
    .join(",")}}`;
}

/** What was given and cannot be honoured as it stands. */
const misfitsOf = (operation: Operation, { input, given }: Parsed): Adapted[] => [
  ...(operation.unused?.(input, given) ?? []).map((field) => ({ field, says: `${field} is not used by this model.` })),
  ...(operation.adapted?.(input, given) ?? []),
];

const refuseMisfits = (misfits: Adapted[]) =>
  new Fault("unsupported_parameter", {
    errors: misfits.map(({ field, says }) => ({ path: `/${field}`, code: "unsupported_parameter", message: says })),
  });

export async function placeInTree(house: House, caller: Caller, parentId: string | undefined) {
  if (!parentId) return { depth: 1 };
  const parent = await findRun(house.db, caller.tenant_id, parentId);
  if (!parent) throw new Fault("run_not_found");
  if (parent.deleted_at) throw new Fault("run_deleted");
  if (parent.depth >= DEEPEST) throw new Fault("tree_too_deep");
  return { parent_run_id: parentId, root_run_id: parent.root_run_id, depth: parent.depth + 1 };
}

/**
 * Addresses must be such as may be fetched. Runs that are used as sources must be the caller's own, ended, and hold a
 * picture. Masks are held against their pictures as far as both are ours already; the rest is seen when it has been
 * fetched.
 */
async function checkSources(house: House, caller: Caller, plan: Job[], files: KeptAsset[]): Promise<string[]> {
  const sources = plan.flatMap((job) => [...(job.images ?? []), ...(job.masks ?? []), ...(job.mask ? [job.mask] : [])]);
  const ids = [...new Set(sources.flatMap((source: Source) => ("run" in source ? [source.run] : [])))];
  const addresses = sources.flatMap((source: Source) => ("url" in source ? [source.url] : []));
  for (const url of addresses) if (!house.ownAsset(url)) house.checkUrl(url);
  const rows = ids.length > 0 ? await findRuns(house.db, caller.tenant_id, ids) : [];
  if (rows.length < ids.length) throw new Fault("run_not_found");
  for (const row of rows) {
    if (row.deleted_at) throw new Fault("run_deleted", { run_id: row.run_id });
    if (isOpen(row)) throw new Fault("run_not_ready", { run_id: row.run_id });
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
