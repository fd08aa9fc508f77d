// What an offer does with each parameter of its task, as data: honoured, adapted or unsupported. adjust-parameters.ts
// judges every request against it, and the reference page is generated from it.
import type { Task } from "../contract/operation.ts";
import { type ParameterName, TASK_PARAMETERS, type TaskParameter } from "../contract/task-parameters.ts";
import type { Offer, OfferLimits, OfferParameters, ParameterSupport } from "./provider.ts";

export const HONOURED: ParameterSupport = { state: "honoured" };
export const UNSUPPORTED: ParameterSupport = { state: "unsupported" };
export const EXCLUDED: ParameterSupport = { state: "unsupported", isExcluded: true };

/** The value needs no field at the provider: Gesso itself does what it asks for. */
export const byGesso = (how: string): ParameterSupport => ({ state: "honoured", how });

/**
 * For models that cannot enlarge their results: the plan gets a second job for it, and the offer a job without the
 * parameter (runs/accept/expand-plan.ts).
 */
const BY_UPSCALE_JOB: ParameterSupport = { ...byGesso("as a second job, image.upscale"), isSecondJob: true };

/** The parameter is unsupported in jobs that have the other one. */
export const unlessWith = (other: ParameterName, support: ParameterSupport = HONOURED): ParameterSupport => ({
  ...support,
  notWith: other,
});

/** The parameter is unsupported in jobs that lack the other one. */
export const onlyWith = (other: ParameterName, support: ParameterSupport = HONOURED): ParameterSupport => ({
  ...support,
  onlyWith: other,
});

/** For models that take a size instead of an aspect ratio. adjust-parameters.ts computes the size. */
export const asSize: ParameterSupport = { state: "adapted", as: "size", how: "as a size" };
/** For models that take an aspect ratio instead of a size. */
export const asAspectRatio: ParameterSupport = {
  state: "adapted",
  as: "aspect_ratio",
  how: "as the nearest aspect ratio",
};

export const adaptedBy = (how: string, adapt: NonNullable<ParameterSupport["adapt"]>): ParameterSupport => ({
  state: "adapted",
  how,
  adapt,
});

/** A number with bounds. Values outside become the nearest bound. */
export const within = ({ least, most }: { least: number; most: number }): ParameterSupport => ({
  state: "adapted",
  how: `${least} to ${most}`,
  adapt: (value) => Math.min(most, Math.max(least, Number(value))),
});

/** Values for which the provider has only a similar one. */
export const replacing = (values: Readonly<Record<string, string>>): ParameterSupport => ({
  state: "adapted",
  how: Object.entries(values)
    .map(([from, to]) => `${from} becomes ${to}`)
    .join(", "),
  adapt: (value) => values[String(value)] ?? value,
});

/** For providers whose seeds have fewer bits than ours. */
export const seedBelow = (limit: number): ParameterSupport => ({
  state: "adapted",
  how: `modulo ${limit}`,
  adapt: (value) => Number(value) % limit,
});

/** `excludes`: jobs with the parameter are not sent to the offer, because its `supports` or `limits` refuse them. */
type ParameterDeclaration<Honoured, Adapted extends string, Ignored, Excluded> = {
  honours: readonly Honoured[];
  adapts?: Readonly<Record<Adapted, ParameterSupport>>;
  ignores?: readonly Ignored[];
  excludes?: readonly Excluded[];
};

/** A type error names the parameters that a declaration forgot. */
type Complete<Undecided> = [Undecided] extends [never] ? unknown : { undecided: Undecided };

/** Declares the support of an offer for every parameter of its task. The compiler refuses one without a decision. */
export const declareParameters = <
  T extends Task,
  const Honoured extends TaskParameter<T> = never,
  const Adapted extends TaskParameter<T> = never,
  const Ignored extends TaskParameter<T> = never,
  const Excluded extends TaskParameter<T> = never,
>(
  _task: T,
  declaration: ParameterDeclaration<Honoured, Adapted, Ignored, Excluded> &
    Complete<Exclude<TaskParameter<T>, Honoured | Adapted | Ignored | Excluded>>,
): OfferParameters => {
  const {
    honours,
    adapts,
    ignores = [],
    excludes = [],
  } = declaration as ParameterDeclaration<ParameterName, ParameterName, ParameterName, ParameterName>;
  return {
    ...Object.fromEntries(honours.map((name) => [name, HONOURED])),
    ...Object.fromEntries(ignores.map((name) => [name, UNSUPPORTED])),
    ...Object.fromEntries(excludes.map((name) => [name, EXCLUDED])),
    ...adapts,
  };
};

/** For providers that take every parameter as it is. */
export const honourAll = (task: Task): OfferParameters =>
  Object.fromEntries(TASK_PARAMETERS[task].map((name) => [name, HONOURED]));

type Supporting = Pick<Offer, "parameters" | "limits">;

/** The support of an offer for a parameter, including what its limits say. */
export function supportOf({ parameters, limits = {} }: Supporting, name: string): ParameterSupport {
  const declared = parameters[name as ParameterName] ?? UNSUPPORTED;
  if (declared.state === "unsupported") return name === "upscale_factor" ? BY_UPSCALE_JOB : declared;
  const bounds = limitOf(limits, name, declared);
  if (bounds === undefined) return declared;
  if (bounds === "never") return EXCLUDED;
  return { ...declared, state: "adapted", how: bounds };
}

/** The support in a job, where a parameter can depend on others: `has` tells which ones the job has. */
export function supportIn(offer: Supporting, name: string, has: (other: string) => boolean): ParameterSupport {
  const support = supportOf(offer, name);
  const isOut =
    (support.notWith !== undefined && has(support.notWith)) ||
    (support.onlyWith !== undefined && !has(support.onlyWith));
  return isOut ? UNSUPPORTED : support;
}

/** `never`: jobs with the parameter are not sent to the offer. */
function limitOf(limits: OfferLimits, name: string, declared: ParameterSupport): string | undefined {
  const sizes = limits.sizes?.join(", ") ?? (limits.sides && describeSides(limits.sides));
  switch (name) {
    case "width":
    case "height":
      return declared.as === "aspect_ratio" ? undefined : sizes;
    case "aspect_ratio":
      return declared.as === "size" ? sizes && `as a size: ${sizes}` : limits.ratios?.join(", ");
    case "duration":
      if (limits.durations) return `${limits.durations.join(", ")} s`;
      return limits.duration && `${limits.duration.least} to ${limits.duration.most} s`;
    case "mask":
      return limits.mask === false ? "never" : undefined;
    case "images":
      return limits.images === 0 ? "never" : undefined;
    default:
      return undefined;
  }
}

function describeSides({ least, most, step, leastPixels, mostPixels, mostRatio }: NonNullable<OfferLimits["sides"]>) {
  return [
    least && `sides from ${least}`,
    most && `sides to ${most}`,
    step && `multiples of ${step}`,
    leastPixels && `at least ${leastPixels} pixels`,
    mostPixels && `at most ${mostPixels} pixels`,
    mostRatio && `at most ${mostRatio}:1`,
  ]
    .filter(Boolean)
    .join(", ");
}
