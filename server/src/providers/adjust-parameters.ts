// The one place that judges a job against the parameters and limits of an offer: a value becomes the nearest supported
// one or is removed, with one change per parameter. Nothing is dropped silently; a job that cannot be adjusted is not
// served by this offer (see canServe).
import type { Job, ParameterAdjustment, Task } from "../contract/operation.ts";
import { listJobParameters, readJobParameter, TASK_PARAMETERS, withJobParameter } from "../contract/task-parameters.ts";
import { supportIn, supportOf } from "./parameter-support.ts";
import type { Offer, OfferLimits } from "./provider.ts";

/** The properties of a job that decide whether an offer can serve it. */
export type JobRequirements = Pick<
  Job<unknown>,
  "task" | "model" | "prompt" | "images" | "mask" | "options" | "count" | "source_size"
>;

/** Whether an offer that the model of the job means can do it. */
export const canServe = (offer: Offer, job: JobRequirements): boolean => {
  const { limits = {} } = offer;
  return (
    offer.task === job.task &&
    offer.lifecycle?.state !== "retired" &&
    (job.mask === undefined || limits.mask !== false) &&
    (job.images?.length ?? 0) <= (limits.images ?? Number.POSITIVE_INFINITY) &&
    (job.prompt?.length ?? 0) <= (limits.prompt ?? Number.POSITIVE_INFINITY) &&
    (job.options?.upscale_factor === undefined || !supportOf(offer, "upscale_factor").isSecondJob) &&
    isSourceWithin(limits, job.source_size) &&
    (offer.supports?.(job) ?? true)
  );
};

/** A source of unknown size counts as small enough. The adapter refuses it later if it is not. */
const isSourceWithin = ({ source }: OfferLimits, size: Size | undefined): boolean =>
  size === undefined || size.width * size.height <= (source?.mostPixels ?? Number.POSITIVE_INFINITY);

/** Whether the adapter may refuse the source of a job that was planned for this offer, because it is too large. */
export const mayExceedSourceLimit = ({ limits }: Offer, { source_size: size }: JobRequirements): boolean => {
  const { mostPixels, mostMaskedPixels } = limits?.source ?? {};
  const bound = Math.min(mostPixels ?? Number.POSITIVE_INFINITY, mostMaskedPixels ?? Number.POSITIVE_INFINITY);
  return (size ? size.width * size.height : Number.MAX_SAFE_INTEGER) > bound;
};

export type AdjustedJob<S> = { job: Job<S>; changes: ParameterAdjustment[] };

/**
 * The job as the adapter gets it: without unsupported parameters, and with supported values of all others. Values that
 * Gesso filled in (`defaulted`) are adjusted like others, but not reported: the caller did not ask for them.
 */
export function adjustParameters<S>(job: Job<S>, offer: Offer): AdjustedJob<S> {
  const shaped = adjustShape(job, offer);
  const names = listJobParameters(shaped.job).filter((name) => !SHAPE_PARAMETERS.includes(name));
  const adjusted = inTaskOrder(job.task, names).reduce<AdjustedJob<S>>((before, name) => {
    const { job: next, change } = adjustParameter(before.job, name, offer);
    return { job: next, changes: change ? [...before.changes, change] : before.changes };
  }, shaped);
  return {
    job: withResolution(adjusted.job, offer),
    changes: adjusted.changes.filter(({ field }) => !job.defaulted?.includes(field)),
  };
}

/** The name of the size that is nearest to the one of the job, for models that have names. */
function resolutionOf({ width, height }: Partial<Size>, { limits }: Offer): string | undefined {
  const names = Object.entries(limits?.resolutions ?? {});
  if (names.length === 0 || !width || !height) return undefined;
  return nearest(names, ([, pixels]) => logDistance(pixels, width * height))[0];
}

function withResolution<S>(job: Job<S>, offer: Offer): Job<S> {
  const resolution = resolutionOf(job, offer);
  return resolution === undefined ? job : { ...job, options: { ...job.options, resolution } };
}

const SHAPE_PARAMETERS = ["width", "height", "aspect_ratio"];

/** In the order of the task, because the value of one parameter can depend on an earlier one. */
const inTaskOrder = (task: Task, names: string[]) => {
  const order: readonly string[] = TASK_PARAMETERS[task];
  return names.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
};

const hasParameter =
  <S>(job: Job<S>) =>
  (name: string) =>
    readJobParameter(job, name) !== undefined;

type AdjustedParameter<S> = { job: Job<S>; change?: ParameterAdjustment };

function adjustParameter<S>(job: Job<S>, name: string, offer: Offer): AdjustedParameter<S> {
  const given = readJobParameter(job, name);
  const support = supportIn(offer, name, hasParameter(job));
  if (support.isExcluded) return { job };
  if (support.state === "unsupported") {
    return { job: withJobParameter(job, name, undefined), change: ignored(offer, name, given) };
  }
  const used = name === "duration" ? nearestDuration(offer.limits, given) : support.adapt?.(given, job);
  if (used === undefined || used === given) return { job };
  return { job: withJobParameter(job, name, used), change: adjustedTo(name, given, used) };
}

const MAX_SHOWN = 80;
const shown = (field: string, value: unknown): string => {
  if (field === "duration") return `${value} s`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
};

const adjustedTo = (field: string, given: unknown, used: unknown): ParameterAdjustment => ({
  field,
  given,
  used,
  message: `${field} was adjusted from ${shown(field, given)} to ${shown(field, used)}, the nearest that this model supports.`,
});

function ignored(offer: Offer, field: string, given: unknown): ParameterAdjustment {
  const { state, notWith, onlyWith } = supportOf(offer, field);
  const condition =
    state === "unsupported" ? "" : notWith ? ` together with ${notWith}` : onlyWith ? ` without ${onlyWith}` : "";
  const message = `${field} is not supported by this model${condition}: ${shown(field, given)} was ignored.`;
  return { field, given, used: undefined, message };
}

const ratioOf = (ratio: string) => {
  const [width = 1, height = 1] = ratio.split(":").map(Number);
  return width / height;
};
const logDistance = (a: number, b: number) => Math.abs(Math.log(a / b));
const nearest = <T>(all: readonly T[], distance: (each: T) => number): T =>
  all.reduce((best, each) => (distance(each) < distance(best) ? each : best));

type Size = { width: number; height: number };
const parseSize = (text: string): Size => {
  const [width = 0, height = 0] = text.split("x").map(Number);
  return { width, height };
};

/** One megapixel, the native size of most models. */
const DEFAULT_PIXELS = 1024 * 1024;
const sizeForRatio = (ratio: string): Size => {
  const shape = ratioOf(ratio);
  return { width: Math.sqrt(DEFAULT_PIXELS * shape), height: Math.sqrt(DEFAULT_PIXELS / shape) };
};

/** Deviation of an aspect ratio that comes from rounding the sides to the step of the model. */
const ROUNDING = 0.03;
const isNumericRatio = (ratio: string | undefined): ratio is string => ratio !== undefined && /^\d+:\d+$/.test(ratio);

/** Width, height and aspect ratio are one decision: models take either a size or an aspect ratio. */
function adjustShape<S>(requested: Job<S>, offer: Offer): AdjustedJob<S> {
  const { job, changes } = removeUnusedShape(requested, offer);
  const { width, height, aspect_ratio } = job;
  const size = width && height ? { width, height } : undefined;
  if (size && offer.parameters.width?.as !== "aspect_ratio") {
    const isRatioUsed = offer.parameters.aspect_ratio?.as !== "size";
    const fitted = fitSize(size, offer.limits);
    const used = `${fitted.width}x${fitted.height}`;
    const isOverruled = !isRatioUsed && isNumericRatio(aspect_ratio) && !isSameShape(ratioOf(aspect_ratio), fitted);
    return {
      job: { ...job, ...fitted, ...(!isRatioUsed && { aspect_ratio: undefined }) },
      changes: [
        ...changes,
        ...(fitted.width === width ? [] : [adjustedTo("width", width, fitted.width)]),
        ...(fitted.height === height ? [] : [adjustedTo("height", height, fitted.height)]),
        ...(isOverruled ? [overruled("aspect_ratio", aspect_ratio, used)] : []),
      ],
    };
  }
  if (isNumericRatio(aspect_ratio) && offer.parameters.aspect_ratio?.as === "size") {
    const fitted = fitSize(sizeForRatio(aspect_ratio), offer.limits);
    const isSame = isSameShape(ratioOf(aspect_ratio), fitted);
    const change = adjustedTo("aspect_ratio", aspect_ratio, `${fitted.width}x${fitted.height}`);
    return { job: { ...job, ...fitted, aspect_ratio: undefined }, changes: isSame ? changes : [...changes, change] };
  }
  return adjustRatio({ job, changes }, offer, size);
}

/** Models that take either a size or an aspect ratio can do nothing with one side. */
const needsBothSides = ({ parameters }: Offer) =>
  parameters.width?.as !== undefined || parameters.aspect_ratio?.as !== undefined;

/** Removes what the offer does not support at all, and one side without the other. */
function removeUnusedShape<S>(job: Job<S>, offer: Offer): AdjustedJob<S> {
  const has = hasParameter(job);
  return SHAPE_PARAMETERS.filter(has).reduce<AdjustedJob<S>>(
    (before, name) => {
      const given = readJobParameter(job, name);
      const isUnsupported = supportIn(offer, name, has).state === "unsupported";
      const isAlone = name !== "aspect_ratio" && needsBothSides(offer) && has("width") !== has("height");
      if (!isUnsupported && !isAlone) return before;
      const change = isUnsupported ? ignored(offer, name, given) : sideAlone(name, given);
      return { job: withJobParameter(before.job, name, undefined), changes: [...before.changes, change] };
    },
    { job, changes: [] },
  );
}

/** For models that take an aspect ratio: that of the request, or of its size. */
function adjustRatio<S>({ job, changes }: AdjustedJob<S>, offer: Offer, size: Size | undefined): AdjustedJob<S> {
  const { limits } = offer;
  const { aspect_ratio } = job;
  const resolution = size && resolutionOf(size, offer);
  const requested = aspect_ratio ?? (size && `${size.width}:${size.height}`);
  if (requested === undefined) return { job, changes };
  const used = nearestRatio(limits?.ratios, requested);
  const sides = size ? (["width", "height"] as const) : [];
  return {
    job: { ...job, aspect_ratio: used },
    changes: [
      ...changes,
      ...(aspect_ratio === undefined || used === aspect_ratio ? [] : [adjustedTo("aspect_ratio", aspect_ratio, used)]),
      ...sides.map((side) => overruled(side, size![side], used, resolution)),
    ],
  };
}

const isSameShape = (ratio: number, { width, height }: Size) => logDistance(ratio, width / height) < ROUNDING;

const sideAlone = (field: string, given: unknown): ParameterAdjustment => ({
  field,
  given,
  used: undefined,
  message: `${field} needs both width and height: ${given} was ignored.`,
});

const overruled = (field: string, given: unknown, used: string, resolution?: string): ParameterAdjustment => ({
  field,
  given,
  used,
  message:
    field === "aspect_ratio"
      ? `aspect_ratio was adjusted from ${given} to ${used}: width and height take precedence.`
      : resolution
        ? `${field} was adjusted from ${given} to the aspect ratio ${used} in ${resolution}.`
        : `${field} was adjusted from ${given} to the aspect ratio ${used}: this model supports no sizes.`,
});

/** A keyword of the API, such as match_input_image, stays as it is. */
function nearestRatio(ratios: readonly string[] | undefined, requested: string): string {
  if (!ratios || ratios.includes(requested) || !isNumericRatio(requested)) return requested;
  return nearest(ratios.filter(isNumericRatio), (each) => logDistance(ratioOf(each), ratioOf(requested)));
}

/** The nearest size within the limits. */
export const fitSize = (size: Size, { sizes, sides }: OfferLimits = {}): Size =>
  sizes ? nearestSize(sizes, size) : withinSides(sides ?? {}, size);

/** The aspect ratio weighs more than the number of pixels: an image can be scaled without loss of content. */
const nearestSize = (sizes: readonly string[], wanted: Size): Size =>
  nearest(sizes.map(parseSize), (each) => {
    const shape = logDistance(each.width / each.height, wanted.width / wanted.height);
    return shape * 10 + logDistance(each.width * each.height, wanted.width * wanted.height);
  });

function withinSides(
  {
    least = 1,
    most = 16_384,
    step = 1,
    leastPixels = 0,
    mostPixels,
    mostRatio = 16_384,
  }: NonNullable<OfferLimits["sides"]>,
  requested: Size,
) {
  const longest = Math.min(requested.width, requested.height) * mostRatio;
  const wanted = { width: Math.min(requested.width, longest), height: Math.min(requested.height, longest) };
  const pixels = wanted.width * wanted.height;
  const scale = Math.min(
    1,
    most / Math.max(wanted.width, wanted.height),
    mostPixels ? Math.sqrt(mostPixels / pixels) : 1,
  );
  const grown = Math.max(
    1,
    least / (Math.min(wanted.width, wanted.height) * scale),
    Math.sqrt(leastPixels / pixels) / scale,
  );
  // Rounds away from the pixel bound in effect, so that rounding cannot violate it.
  const round = mostPixels && scale < 1 ? Math.floor : leastPixels ? Math.ceil : Math.round;
  const side = (length: number) =>
    Math.min(
      Math.floor(most / step) * step,
      Math.max(Math.ceil(least / step) * step, round((length * scale * grown) / step) * step),
    );
  const [width, height] = [side(wanted.width), side(wanted.height)];
  const longestSupported = Math.floor((Math.min(width, height) * mostRatio) / step) * step;
  return { width: Math.min(width, longestSupported), height: Math.min(height, longestSupported) };
}

function nearestDuration({ durations, duration }: OfferLimits = {}, requested: unknown): unknown {
  if (typeof requested !== "number") return undefined;
  if (durations) return nearest(durations, (each) => Math.abs(each - requested));
  return duration && Math.min(duration.most, Math.max(duration.least, requested));
}
