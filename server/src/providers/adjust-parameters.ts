// Adjusts a job's parameters to the limits of an offer: the nearest supported value, with one warning per change.
// Nothing is dropped silently; a job that cannot be adjusted is not served by this offer (see canDo).
import type { Job, ParameterAdjustment } from "../kit/operation.ts";
import type { Offer, OfferLimits } from "./provider.ts";

/** Parts of a job that decide whether an offer can do it. Only their number and length matter here. */
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

/** What `model_id` means to the provider. No caller sent it, so none is told of it. */
const RESOLVED = "deployment_id";

const unusedOptions = <S>({ options = {} }: Job<S>, { supportedOptions }: Offer): ParameterAdjustment[] =>
  supportedOptions === undefined
    ? []
    : Object.keys(options)
        .filter((field) => field !== RESOLVED && !supportedOptions.includes(field))
        .map((field) => ({ field, message: `${field} is not supported by this model and was ignored.` }));

const ratioOf = (ratio: string) => {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return across / down;
};
const logDistance = (a: number, b: number) => Math.abs(Math.log(a / b));
const nearest = <T>(all: readonly T[], distance: (each: T) => number): T =>
  all.reduce((best, each) => (distance(each) < distance(best) ? each : best));

type Size = { width: number; height: number };
const sizeOf = (words: string): Size => {
  const [width = 0, height = 0] = words.split("x").map(Number);
  return { width, height };
};

/** About a megapixel, which is what most models are at home with. */
const USUAL_PIXELS = 1024 * 1024;
const ofRatio = (ratio: string): Size => {
  const shape = ratioOf(ratio);
  return { width: Math.sqrt(USUAL_PIXELS * shape), height: Math.sqrt(USUAL_PIXELS / shape) };
};

function adjustSize<S>(job: Job<S>, limits: OfferLimits): AdjustedJob<S> {
  const { width, height, aspect_ratio } = job;
  const size = width && height ? { width, height } : undefined;
  if (limits.sizes || limits.sides) {
    const wanted = size ?? (aspect_ratio && /^\d+:\d+$/.test(aspect_ratio) ? ofRatio(aspect_ratio) : undefined);
    if (!wanted) return { job, changes: [] };
    const made = limits.sizes ? nearestSize(limits.sizes, wanted) : withinSides(limits.sides!, wanted);
    const isSame = !size || (made.width === width && made.height === height);
    const message = `The size was adapted to ${made.width}x${made.height}, the nearest that this model makes.`;
    return { job: { ...job, ...made }, changes: isSame ? [] : [{ field: "width", message: message }] };
  }
  if (!limits.ratios) return { job, changes: [] };
  const asked = aspect_ratio ?? (size && `${size.width}:${size.height}`);
  if (!asked || limits.ratios.includes(asked)) return { job, changes: [] };
  if (!/^\d+:\d+$/.test(asked)) return { job, changes: [] };
  const made = nearest(
    limits.ratios.filter((each) => /^\d+:\d+$/.test(each)),
    (each) => logDistance(ratioOf(each), ratioOf(asked)),
  );
  const field = aspect_ratio ? "aspect_ratio" : "width";
  const isSame = logDistance(ratioOf(made), ratioOf(asked)) < 0.001 && aspect_ratio === undefined;
  const message = aspect_ratio
    ? `aspect_ratio was adapted to ${made}, the nearest that this model makes.`
    : `width and height were adapted to the shape ${made}: this model takes no sizes.`;
  return { job: { ...job, aspect_ratio: made }, changes: isSame ? [] : [{ field, message: message }] };
}

/** The shape counts more than the number of pixels: a picture can be scaled, but not reshaped. */
const nearestSize = (sizes: readonly string[], wanted: Size): Size =>
  nearest(sizes.map(sizeOf), (each) => {
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
  asked: Size,
) {
  const longest = Math.min(asked.width, asked.height) * mostRatio;
  const wanted = { width: Math.min(asked.width, longest), height: Math.min(asked.height, longest) };
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
  // Rounded to the side where no bound is: a step more, or less, could cross the bound on the number of pixels.
  const round = mostPixels && scale < 1 ? Math.floor : leastPixels ? Math.ceil : Math.round;
  const side = (length: number) =>
    Math.min(
      Math.floor(most / step) * step,
      Math.max(Math.ceil(least / step) * step, round((length * scale * grown) / step) * step),
    );
  const [width, height] = [side(wanted.width), side(wanted.height)];
  const longestMade = Math.floor((Math.min(width, height) * mostRatio) / step) * step;
  return { width: Math.min(width, longestMade), height: Math.min(height, longestMade) };
}

function adjustDuration<S>(job: Job<S>, { durations, duration }: OfferLimits): AdjustedJob<S> {
  const asked = job.options?.duration;
  if (typeof asked !== "number" || (!durations && !duration)) return { job, changes: [] };
  const made = durations
    ? nearest(durations, (each) => Math.abs(each - asked))
    : Math.min(duration!.most, Math.max(duration!.least, asked));
  if (made === asked) return { job, changes: [] };
  const message = `duration was adapted to ${made} seconds, the nearest that this model makes.`;
  return {
    job: { ...job, options: { ...job.options, duration: made } },
    changes: [{ field: "duration", message: message }],
  };
}
