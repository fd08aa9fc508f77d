// Adjusts a job's parameters to the limits of an offer: the nearest supported value, with one warning per change.
// Nothing is dropped silently; a job that cannot be adjusted is not served by this offer (see canServe).
import type { Job, ParameterAdjustment } from "../kit/operation.ts";
import type { Offer, OfferLimits } from "./provider.ts";

/** The properties of a job that decide whether an offer can serve it. */
export type JobRequirements = Pick<Job<unknown>, "task" | "model" | "prompt" | "images" | "mask" | "options" | "count">;

export const canServe = (offer: Offer, job: JobRequirements): boolean => {
  const { limits = {} } = offer;
  return (
    offer.task === job.task &&
    offer.model === job.model &&
    offer.lifecycle?.state !== "retired" &&
    (job.mask === undefined || limits.mask !== false) &&
    (job.images?.length ?? 0) <= (limits.images ?? Number.POSITIVE_INFINITY) &&
    (job.prompt?.length ?? 0) <= (limits.prompt ?? Number.POSITIVE_INFINITY) &&
    (offer.supports?.(job) ?? true)
  );
};

export type AdjustedJob<S> = { job: Job<S>; changes: ParameterAdjustment[] };

export function adjustParameters<S>(job: Job<S>, offer: Offer): AdjustedJob<S> {
  const shaped = adjustSize(job, offer.limits ?? {});
  const timed = adjustDuration(shaped.job, offer.limits ?? {});
  return { job: timed.job, changes: [...shaped.changes, ...timed.changes, ...unusedOptions(job, offer)] };
}

/** Gesso derives it from `model_id`, so callers get no warning about it. */
const DERIVED_OPTION = "deployment_id";

const unusedOptions = <S>({ options = {} }: Job<S>, { supportedOptions }: Offer): ParameterAdjustment[] =>
  supportedOptions === undefined
    ? []
    : Object.keys(options)
        .filter((field) => field !== DERIVED_OPTION && !supportedOptions.includes(field))
        .map((field) => ({ field, message: `${field} is not supported by this model and was ignored.` }));

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

function adjustSize<S>(job: Job<S>, limits: OfferLimits): AdjustedJob<S> {
  const { width, height, aspect_ratio } = job;
  const size = width && height ? { width, height } : undefined;
  if (limits.sizes || limits.sides) {
    const wanted = size ?? (aspect_ratio && /^\d+:\d+$/.test(aspect_ratio) ? sizeForRatio(aspect_ratio) : undefined);
    if (!wanted) return { job, changes: [] };
    const supported = limits.sizes ? nearestSize(limits.sizes, wanted) : withinSides(limits.sides!, wanted);
    const isSame = !size || (supported.width === width && supported.height === height);
    const message = `The size was adjusted to ${supported.width}x${supported.height}, the nearest that this model supports.`;
    return { job: { ...job, ...supported }, changes: isSame ? [] : [{ field: "width", message: message }] };
  }
  if (!limits.ratios) return { job, changes: [] };
  const requested = aspect_ratio ?? (size && `${size.width}:${size.height}`);
  if (!requested || limits.ratios.includes(requested)) return { job, changes: [] };
  if (!/^\d+:\d+$/.test(requested)) return { job, changes: [] };
  const supported = nearest(
    limits.ratios.filter((each) => /^\d+:\d+$/.test(each)),
    (each) => logDistance(ratioOf(each), ratioOf(requested)),
  );
  const field = aspect_ratio ? "aspect_ratio" : "width";
  const isSame = logDistance(ratioOf(supported), ratioOf(requested)) < 0.001 && aspect_ratio === undefined;
  const message = aspect_ratio
    ? `aspect_ratio was adjusted to ${supported}, the nearest that this model supports.`
    : `width and height were adjusted to the aspect ratio ${supported}: this model supports no sizes.`;
  return { job: { ...job, aspect_ratio: supported }, changes: isSame ? [] : [{ field, message: message }] };
}

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

function adjustDuration<S>(job: Job<S>, { durations, duration }: OfferLimits): AdjustedJob<S> {
  const requested = job.options?.duration;
  if (typeof requested !== "number" || (!durations && !duration)) return { job, changes: [] };
  const supported = durations
    ? nearest(durations, (each) => Math.abs(each - requested))
    : Math.min(duration!.most, Math.max(duration!.least, requested));
  if (supported === requested) return { job, changes: [] };
  const message = `duration was adjusted to ${supported} s, the nearest that this model supports.`;
  return {
    job: { ...job, options: { ...job.options, duration: supported } },
    changes: [{ field: "duration", message: message }],
  };
}
