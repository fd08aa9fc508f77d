// Checks one cell of the matrix of offers and parameters: sends the parameter through the judge and the adapter, and
// compares what the provider received with what the offer says about it. Returns a sentence per disagreement.

import type { Job, ParameterAdjustment } from "../../src/contract/operation.ts";
import {
  listJobParameters,
  type ParameterName,
  readJobParameter,
  TASK_PARAMETERS,
  withJobParameter,
} from "../../src/contract/task-parameters.ts";
import type { Fault } from "../../src/faults/faults.ts";
import { FREE, flatPrice } from "../../src/prices/price.ts";
import { adjustParameters, canServe } from "../../src/providers/adjust-parameters.ts";
import { honourAll, supportOf } from "../../src/providers/parameter-support.ts";
import type { Asset, Offer, Provider } from "../../src/providers/provider.ts";
import { expandPlan } from "../../src/runs/accept/expand-plan.ts";
import { refuseAdjustments } from "../../src/runs/accept/judge-parameters.ts";
import { splitJob } from "../../src/runs/execute/plan-requests.ts";
import { createImageAsset, createMaskAsset, createSampleJob } from "../fake-vendors/sample-jobs.ts";
import { isSentAnywhere, PROBE_DEPLOYMENT, PROBE_MODEL, PROBES } from "./parameter-probes.ts";
import { changedLeaves, type RequestLeaf } from "./recorded-requests.ts";

/** Submits a job and returns what the provider received. Throws if the provider did not accept it. */
export type SubmitAndRecord = (job: Job<Asset>) => Promise<RequestLeaf[]>;

/** `isEffectEnough`: the work happens here, so a parameter is recognised by its effect on the result. */
export type CheckedOffer = { offer: Offer; submit: SubmitAndRecord; sample?: Job<Asset>; isEffectEnough?: boolean };

/** `excluded`: unsupported, and jobs with the parameter are not sent to the offer. */
export type CellState = "honoured" | "adapted" | "unsupported" | "excluded";

export const stateOf = (offer: Offer, name: ParameterName): CellState => {
  const { state, isExcluded } = supportOf(offer, name);
  return isExcluded ? "excluded" : state;
};

const SHAPE: ParameterName[] = ["width", "height", "aspect_ratio"];
const FILES: ParameterName[] = ["images", "mask", "masks"];

function withProbe(job: Job<Asset>, name: ParameterName, value: unknown): Job<Asset> {
  const defaulted = job.defaulted?.filter(
    (each) => each !== name && !(SHAPE.includes(name) && SHAPE.includes(each as never)),
  );
  const probed = withJobParameter({ ...job, defaulted }, name, value);
  if (value === PROBE_MODEL) return withJobParameter(probed, "deployment_id", PROBE_DEPLOYMENT);
  const other = name === "width" ? "height" : name === "height" ? "width" : undefined;
  if (!other) return probed;
  const index = PROBES[name].values(job).indexOf(value);
  return withJobParameter(probed, other, value === undefined ? undefined : PROBES[other].values(job)[index]);
}

/** A job that the offer serves, with everything that the parameter needs and nothing that excludes it. */
function baseJob({ offer, sample = createSampleJob(offer) }: CheckedOffer, name: ParameterName): Job<Asset> {
  const { notWith, onlyWith } = supportOf(offer, name);
  const needs = {
    ...PROBES[name].needs,
    ...(name === "count" && offer.task === "image.segment" && { multiple: true }),
  };
  const removed = [...(SHAPE.includes(name) ? SHAPE : []), ...(notWith ? [notWith] : [])];
  const bare = removed.reduce((job, each) => withJobParameter(job, each, undefined), sample);
  const equipped = Object.entries(needs).reduce((job, [each, value]) => withJobParameter(job, each, value), bare);
  const isMissing = onlyWith !== undefined && readJobParameter(equipped, onlyWith) === undefined;
  const whole = isMissing ? withProbe(equipped, onlyWith, PROBES[onlyWith].values(equipped)[0]) : equipped;
  const variants = name === "mask" && offer.task === "image.character" ? maskable(whole) : [whole];
  return asDefaults(variants.find((job) => canServe(offer, job)) ?? bare);
}

/** A character with a mask needs the image that the mask belongs to. Some offers take that image only with a mask. */
function maskable(job: Job<Asset>): Job<Asset>[] {
  const inserted = {
    ...job,
    images: [...(job.images ?? []).slice(0, 1), createImageAsset("background")],
    mask_over: 1,
  };
  return [inserted, { ...inserted, mask: createMaskAsset() }];
}

/** Everything else in the job counts as filled in by Gesso, so that only the parameter is judged. */
const asDefaults = (job: Job<Asset>): Job<Asset> => ({ ...job, defaulted: listJobParameters(job) });

function baselineOf(offer: Offer, job: Job<Asset>, { name, value }: Probed): Job<Asset> {
  const without = withProbe(job, name, PROBES[name].baseline?.(job, value));
  return canServe(offer, without) ? without : job;
}

type Probed = { name: ParameterName; value: unknown };

const seenBy = (name: ParameterName, leaves: RequestLeaf[]) =>
  FILES.includes(name) ? leaves : leaves.filter(({ path }) => !path.startsWith(".sent"));

const differs = (before: RequestLeaf[], after: RequestLeaf[]) =>
  changedLeaves(before, after).length + changedLeaves(after, before).length > 0;

/** Strict handling refuses exactly what is changed. */
function checkStrictness(name: ParameterName, changes: ParameterAdjustment[]): string[] {
  const own = changes.find(({ field }) => field === name);
  let refused: string[] = [];
  try {
    refuseAdjustments(changes.filter(({ field }) => field === name));
  } catch (thrown) {
    refused = ((thrown as Fault).details.errors as { path: string }[]).map(({ path }) => path);
  }
  const expected = own ? [`/${name}`] : [];
  const others = changes.filter(
    ({ field }) => field !== name && !(SHAPE.includes(name) && SHAPE.includes(field as never)),
  );
  return [
    ...(refused.join() === expected.join() ? [] : [`strict handling refuses ${refused} instead of ${expected}`]),
    ...others.map(({ message }) => `an unrelated change: ${message}`),
  ];
}

function checkMessage({ field, message, given, used }: ParameterAdjustment, value: unknown): string[] {
  const words = [field, String(value), ...(used === undefined ? [] : [String(used)])];
  return [
    ...words
      .filter((word) => !message.includes(word.slice(0, 80)))
      .map((word) => `the warning lacks ${word}: ${message}`),
    ...(given === value ? [] : [`the change names ${given} as the given value`]),
  ];
}

async function checkValue(checked: CheckedOffer, name: ParameterName, value: unknown): Promise<string[]> {
  const { offer, submit } = checked;
  const state = stateOf(offer, name);
  const base = baseJob(checked, name);
  const requested = withProbe(base, name, value);
  if (supportOf(offer, name).isSecondJob) return checkSecondJob(checked, name, value);
  if (state === "excluded") return canServe(offer, requested) ? ["is served, although the offer excludes it"] : [];
  if (!canServe(offer, requested)) return ["is not served"];
  const { job, changes } = adjustParameters(requested, offer);
  const change = changes.find(({ field }) => field === name);
  const problems = [
    ...checkStrictness(name, changes),
    ...(change && !FILES.includes(name) ? checkMessage(change, value) : []),
  ];
  if (state === "honoured" && change) problems.push(`is honoured, but changed: ${change.message}`);
  if (state === "unsupported" && (!change || change.used !== undefined))
    problems.push("is unsupported without a warning");
  if (name === "count") return [...problems, ...(await checkCount(checked, requested))];
  const before = seenBy(name, await submit(adjustParameters(baselineOf(offer, base, { name, value }), offer).job));
  const after = seenBy(name, await submit(job));
  if (state === "unsupported")
    return differs(before, after) ? [...problems, "is unsupported, but changes the request"] : problems;
  // Gesso itself does what the parameter asks for.
  if (state === "honoured" && supportOf(offer, name).how !== undefined) return problems;
  const expected = change ? change.used : value;
  const isSent = PROBES[name].isSent ?? isSentAnywhere;
  const isFound = checked.isEffectEnough
    ? differs(before, after)
    : await isSent(expected, { changed: changedLeaves(before, after), all: after });
  return isFound ? problems : [...problems, `${String(expected)} is not in the request, and no warning says so`];
}

const UPSCALER: Offer = {
  ...{
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "upscaler",
    recovery: "none",
    price: flatPrice(1),
  },
  parameters: honourAll("image.upscale"),
};
const RESIZER: Offer = {
  ...{ task: "image.resize", model: "local", upstreamModel: "resizer", recovery: "free", price: FREE },
  parameters: honourAll("image.resize"),
};

/** The offer gets the job without the parameter, and the jobs after it do what the parameter asks for. */
async function checkSecondJob(checked: CheckedOffer, name: ParameterName, value: unknown): Promise<string[]> {
  const { offer, submit } = checked;
  const base = baseJob(checked, name);
  const requested = withProbe(base, name, value);
  if (canServe(offer, requested)) return ["is served in one job, although the offer needs a second one"];
  const provider = { id: "checked", offers: [offer, UPSCALER, RESIZER] } as unknown as Provider;
  const services = { providers: { enabled: [{ provider, env: {} }] } };
  const { plan, adjustments } = expandPlan(services as never, [requested as unknown as Job]);
  const [first, ...added] = plan;
  const factor = added.reduce((product, { options }) => product * Number(options?.factor ?? options?.scale), 1);
  const before = await submit(adjustParameters(base, offer).job);
  const after = await submit(adjustParameters(first as unknown as Job<Asset>, offer).job);
  return [
    ...(canServe(offer, first!) ? [] : ["the first job is not served"]),
    ...(differs(before, after) ? ["is left to a second job, but changes the first request"] : []),
    ...(factor === value ? [] : [`${String(value)} was requested, and the added jobs make ${factor}`]),
    ...adjustments.map(({ message }) => `is changed: ${message}`),
  ];
}

const COUNT_FIELDS = [
  "num_images",
  "n",
  "num_outputs",
  "number_of_images",
  "outputCount",
  "batch_size",
  "amount",
  "max_masks",
  "count",
];

/** All requests of a split job together ask for as many results as the caller. */
async function checkCount({ offer, submit }: CheckedOffer, requested: Job<Asset>): Promise<string[]> {
  const counts: number[] = [];
  for (const part of splitJob(requested, offer.limits?.count)) {
    const leaves = await submit(adjustParameters(part, offer).job);
    const own = leaves.filter(
      ({ path }) => path.startsWith(".received") && COUNT_FIELDS.includes(path.split(".").at(-1)!),
    );
    counts.push(Math.max(1, ...own.map(({ value }) => Number(value))));
  }
  const sum = counts.reduce((total, count) => total + count, 0);
  return sum === requested.count ? [] : [`${requested.count} results were requested and ${sum} sent`];
}

/** A parameter that depends on another one is unsupported, with a warning, in jobs without its condition. */
async function checkCondition(checked: CheckedOffer, name: ParameterName): Promise<string[]> {
  const { offer, submit } = checked;
  const { notWith, onlyWith, isExcluded } = supportOf(offer, name);
  if (isExcluded) return [];
  const fulfilled = baseJob(checked, name);
  // A model that always needs the other parameter cannot lack it.
  const canLack =
    onlyWith !== undefined && readJobParameter(checked.sample ?? createSampleJob(offer), onlyWith) === undefined;
  const violations = [
    ...(notWith ? [withProbe(fulfilled, notWith, PROBES[notWith].values(fulfilled)[0])] : []),
    ...(canLack ? [withProbe(fulfilled, onlyWith, undefined)] : []),
  ].filter((job) => canServe(offer, job));
  const problems: string[] = [];
  for (const without of violations) {
    const { job, changes } = adjustParameters(withProbe(without, name, PROBES[name].values(without)[0]), offer);
    const change = changes.find(({ field }) => field === name);
    if (!change || change.used !== undefined) problems.push("is ignored in some jobs without a warning");
    const before = await submit(adjustParameters(withProbe(without, name, undefined), offer).job);
    if (differs(before, await submit(job))) problems.push("is ignored in some jobs, but changes the request");
  }
  return problems;
}

/** One side of a size without the other: sent, or ignored with a warning. */
async function checkSideAlone(checked: CheckedOffer, name: ParameterName): Promise<string[]> {
  const { offer, submit } = checked;
  if ((name !== "width" && name !== "height") || stateOf(offer, name) === "unsupported") return [];
  const base = baseJob(checked, name);
  const value = PROBES[name].values(base)[0];
  const alone = { ...withJobParameter(base, name, value), defaulted: base.defaulted?.filter((each) => each !== name) };
  const { job, changes } = adjustParameters(alone, offer);
  const isReported = changes.some(({ field, used }) => field === name && used === undefined);
  const isSent = differs(await submit(adjustParameters(base, offer).job), await submit(job));
  return isReported === isSent ? ["without the other side is dropped without a warning, or sent with one"] : [];
}

/** Everything wrong with one cell. */
async function checkCell(checked: CheckedOffer, name: ParameterName): Promise<string[]> {
  const problems: string[] = [];
  let changed = 0;
  for (const value of PROBES[name].values(baseJob(checked, name))) {
    const found = await checkValue(checked, name, value).catch((thrown) => [
      `the job was not accepted: ${describeError(thrown)}`,
    ]);
    problems.push(...found.map((problem) => `${name} ${JSON.stringify(value)?.slice(0, 60)}: ${problem}`));
    const { changes } = adjustParameters(withProbe(baseJob(checked, name), name, value), checked.offer);
    if (changes.some(({ field }) => field === name)) changed += 1;
  }
  if (stateOf(checked.offer, name) === "adapted" && changed === 0) problems.push(`${name}: no probe value is adapted`);
  const further = async () => [...(await checkCondition(checked, name)), ...(await checkSideAlone(checked, name))];
  const found = await further().catch((thrown) => [`the job was not accepted: ${describeError(thrown)}`]);
  return [...problems, ...found.map((problem) => `${name}: ${problem}`)];
}

const describeError = (thrown: unknown) => `${thrown} ${String((thrown as Error).cause ?? "").slice(0, 300)}`;

export async function checkOffer(checked: CheckedOffer): Promise<string[]> {
  const problems: string[] = [];
  for (const name of TASK_PARAMETERS[checked.offer.task]) problems.push(...(await checkCell(checked, name)));
  return problems;
}
