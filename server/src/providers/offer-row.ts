// Offers as data: a row says which field of a model gets which parameter of a task. The body of a request, what the
// offer honours, adapts and excludes, and which jobs it can do follow from the row, so it claims only what it sends.
import type { Job, Task } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import {
  type ParameterName,
  readJobParameter,
  TASK_PARAMETERS,
  type TaskParameter,
} from "../contract/task-parameters.ts";
import { asAspectRatio, asSize, byGesso, EXCLUDED, HONOURED, UNSUPPORTED, within } from "./parameter-support.ts";
import type {
  Asset,
  Offer,
  OfferLimits,
  OfferParameters,
  ParameterSupport,
  PlacedFile,
  RowNotation,
} from "./provider.ts";
import type { OfferSpec } from "./with-published-prices.ts";

/** The name of a field, which gets the value as it is, or a form for other notations. */
export type ValueField = string | ValueForm;
export type ValueForm = {
  field: string;
  /** `text`: "5". `seconds`: "5s". `times`: "x2". */
  as?: "text" | "seconds" | "times";
  /** The words of the model for ours. */
  values?: Readonly<Record<string, unknown>>;
  /** Sent if the job has no value. */
  default?: unknown;
  /** Added to a text. */
  suffix?: string;
  /** The bounds of a number. */
  within?: { least: number; most: number };
  /** The field is for the other parameter if a job has both. */
  unless?: ParameterName;
  /** Further fields of a request that has the parameter. */
  with?: JsonObject;
};

/**
 * `image_url`: the first image. `image_urls[]`: a list of all. A list of names: one field for each image. `resized`:
 * the result has the size of the image, which is resized to the requested one. `maskedFirst`: the image that the mask
 * belongs to comes first.
 */
export type ImageField = string | readonly string[] | { field: string; resized?: true; maskedFirst?: true };
/** White changes, unless another form is given: `inverted` (black), or `transparent` (white and transparent). */
export type MaskField = string | { field: string; form: "inverted" | "transparent" };
/** Width and height together: `{ width, height }`, or as text `1024x768`. */
export type SizeField = { field: string; as: "object" | "text" };
/** A list of LoRAs, each with the parameters for its name and its scale. The first scale that a job has counts. */
export type LoraField = { field: string; list: readonly Lora[] };
type Lora = { name: ParameterName; scale: readonly ParameterName[]; constants?: JsonObject };

/** Parameters that only these forms can carry. */
type FormParameter = "images" | "mask" | "masks" | "width" | "height";
type RowFields<Name extends ParameterName> = Partial<Record<Exclude<Name, FormParameter>, ValueField>> & {
  images?: ImageField;
  mask?: MaskField;
  size?: SizeField;
  loras?: LoraField;
  /** The name of the nearest size, for offers with `resolutions` in their limits. */
  resolution?: ValueField;
};
type RowOf<T extends Task> = Omit<OfferSpec, "task" | "parameters" | "body" | "supports" | "recovery" | "limits"> & {
  task: T;
  fields: RowFields<TaskParameter<T>>;
  /** Sent in every request. */
  constants?: JsonObject;
  /** Without what follows from the fields: whether the offer takes masks, and whether it takes no image or one. */
  limits?: Omit<OfferLimits, "mask">;
  /** Only jobs with these parameters are for the offer. */
  needs?: readonly TaskParameter<T>[];
  /** Jobs with these parameters are not for the offer. */
  without?: readonly TaskParameter<T>[];
  leastImages?: number;
  /** What Gesso does with a parameter that has no field. */
  byGesso?: Partial<Record<TaskParameter<T>, string>>;
};
export type OfferRow = { [T in Task]: RowOf<T> }[Task];
/** The same for code that reads any row. */
type AnyRow = RowOf<Task>;

/** Makes the offer that a row describes. */
export function offerFromRow(row: OfferRow, notation: RowNotation): OfferSpec {
  const anyRow = row as AnyRow;
  const { fields, constants, needs, without, leastImages, byGesso: _, limits, ...facts } = anyRow;
  return {
    ...facts,
    recovery: notation.recovery,
    limits: { ...limits, ...imageLimit(anyRow), ...(fields.mask === undefined && { mask: false }) },
    parameters: deriveParameters(anyRow),
    ...((needs || without || leastImages) && { supports: (job) => isForRow(anyRow, job) }),
    body: (job) => buildRowBody(anyRow, job, notation),
  };
}

const imageLimit = ({ fields: { images }, limits }: AnyRow): Pick<OfferLimits, "images"> => {
  if (images === undefined) return { images: 0 };
  if (Array.isArray(images)) return { images: images.length };
  const most = isList(images as NamedField) ? limits?.images : 1;
  return most === undefined ? {} : { images: most };
};

type SupportedJob = Parameters<NonNullable<Offer["supports"]>>[0];

/** A parameter that only says no, such as `multiple: false`, is as good as none. */
const isGiven = (value: unknown) => value !== undefined && value !== false;

function isForRow({ needs = [], without = [], leastImages = 0 }: AnyRow, job: SupportedJob): boolean {
  const has = (name: ParameterName) => isGiven(readJobParameter(job as Job<unknown>, name));
  return needs.every(has) && !without.some(has) && (job.images?.length ?? 0) >= leastImages;
}

const deriveParameters = (row: AnyRow): OfferParameters =>
  Object.fromEntries(TASK_PARAMETERS[row.task].map((name) => [name, deriveSupport(row, name)]));

function deriveSupport(row: AnyRow, name: ParameterName): ParameterSupport {
  const { fields, limits, without, byGesso: done } = row;
  if (without?.includes(name)) return EXCLUDED;
  if (done?.[name] !== undefined) return byGesso(done[name]);
  const ofLora = fields.loras && loraSupport(row, fields.loras, name);
  if (ofLora) return ofLora;
  const isSized = fields.size !== undefined || isResized(fields.images);
  switch (name) {
    // A result without them would be another one, so a job that has them is for another offer.
    case "images":
    case "mask":
      return fields[name] === undefined ? EXCLUDED : HONOURED;
    case "width":
    case "height":
      return isSized ? HONOURED : fields.aspect_ratio ? asAspectRatio : UNSUPPORTED;
    case "aspect_ratio":
      return fields.aspect_ratio ? valueSupport(fields.aspect_ratio) : isSized ? asSize : UNSUPPORTED;
    case "count":
      // Gesso sends one request per result.
      return fields.count ? valueSupport(fields.count) : limits?.count === 1 ? HONOURED : UNSUPPORTED;
    case "masks":
      return UNSUPPORTED;
    default:
      return fields[name] ? valueSupport(fields[name]) : UNSUPPORTED;
  }
}

function valueSupport(field: ValueField): ParameterSupport {
  if (typeof field === "string") return HONOURED;
  const { within: bounds, unless } = field;
  const support = bounds ? within(bounds) : HONOURED;
  return unless ? { ...support, notWith: unless } : support;
}

function loraSupport({ needs = [] }: AnyRow, { list }: LoraField, name: ParameterName): ParameterSupport | undefined {
  const lora = list.find((each) => each.name === name || each.scale.includes(name));
  if (!lora || lora.name === name) return lora && HONOURED;
  const [preferred] = lora.scale;
  return {
    ...HONOURED,
    ...(preferred !== name && { notWith: preferred }),
    ...(!needs.includes(lora.name) && { onlyWith: lora.name }),
  };
}

/** TypeScript does not exclude read-only lists after `Array.isArray`. */
type NamedField = Exclude<ImageField, readonly string[]>;
const isList = (field: NamedField) => nameOf(field).endsWith("[]");
const nameOf = (field: NamedField) => (typeof field === "string" ? field : field.field);
const isResized = (field: ImageField | undefined) =>
  typeof field === "object" && "resized" in field && field.resized === true;

/** The input of the model for a job whose parameters are adjusted to the offer. */
function buildRowBody(row: Pick<AnyRow, "fields" | "constants">, job: Job<Asset>, notation: RowNotation): JsonObject {
  const { images, mask, size, loras, ...values } = row.fields;
  return {
    ...row.constants,
    ...Object.assign({}, ...Object.entries(values).map(([name, field]) => placeValue(job, name, field))),
    ...(images !== undefined && placeImages(images, job, notation)),
    ...(mask !== undefined && job.mask && placeMask(mask, job.mask, notation)),
    ...(size && job.width && job.height && placeSize(size, { width: job.width, height: job.height })),
    ...(loras && placeLoras(loras, job, notation)),
  };
}

function placeValue(job: Job<Asset>, name: string, target: ValueField): JsonObject {
  const form: ValueForm = typeof target === "string" ? { field: target } : target;
  const given = readJobParameter(job, name);
  if (form.unless !== undefined && readJobParameter(job, form.unless) !== undefined) return {};
  if (given === undefined) return form.default === undefined ? {} : { [form.field]: formatValue(form.default, form) };
  return { [form.field]: formatValue(given, form), ...form.with };
}

function formatValue(value: unknown, { as, values, suffix = "" }: ValueForm): unknown {
  const used = values?.[String(value)] ?? value;
  if (as === "seconds") return `${used}s`;
  if (as === "times") return `x${used}`;
  return as === "text" || suffix !== "" ? `${used}${suffix}` : used;
}

function placeImages(target: ImageField, job: Job<Asset>, { place }: RowNotation): JsonObject {
  const { images } = job;
  if (images === undefined) return {};
  if (Array.isArray(target)) {
    const placed = target.flatMap((field, index) => (images[index] ? [[field, place(images[index])]] : []));
    return Object.fromEntries(placed);
  }
  const field = target as NamedField;
  const name = nameOf(field);
  if (isList(field)) {
    const isOrdered = typeof field === "object" && field.maskedFirst;
    return { [name.slice(0, -"[]".length)]: (isOrdered ? maskedFirst(job) : images).map((image) => place(image)) };
  }
  const [image] = images;
  return image ? { [name]: place(isResized(field) ? resizeToJob(image, job) : image) } : {};
}

const MASK_TASKS = { inverted: "invert-mask", transparent: "white-transparent-mask" } as const;

function placeMask(field: MaskField, mask: Asset, { place }: RowNotation): JsonObject {
  if (typeof field === "string") return { [field]: place(mask) };
  return { [field.field]: place(convertedMask(mask, field.form)) };
}

export const convertedMask = (mask: Asset, form: keyof typeof MASK_TASKS): PlacedFile => ({
  media_type: "image/png",
  bytes: mask.bytes,
  pixelTask: { name: MASK_TASKS[form] },
});

const placeSize = ({ field, as }: SizeField, { width, height }: { width: number; height: number }): JsonObject => ({
  [field]: as === "text" ? `${width}x${height}` : { width, height },
});

function placeLoras({ field, list }: LoraField, job: Job<Asset>, { lora }: RowNotation): JsonObject {
  const first = (names: readonly string[]) =>
    names.map((name) => readJobParameter(job, name)).find((value) => value !== undefined);
  const placed = list.flatMap(({ name, scale, constants }) => {
    // What an operator has deployed under this ID has a name of its own.
    const given = name === "model_id" ? first(["deployment_id", name]) : first([name]);
    return given === undefined ? [] : [{ path: lora?.(given) ?? given, scale: first(scale), ...constants }];
  });
  return placed.length === 0 ? {} : { [field]: placed };
}

/** For models whose result has the size of the input: resizes the input to the requested size. */
function resizeToJob(image: Asset, { width, height }: Job<Asset>): PlacedFile {
  if (!width || !height) return image;
  const pixelTask = { name: "resize-to-cover", size: { width, height } } as const;
  return { media_type: "image/png", bytes: image.bytes, pixelTask };
}

/** Puts the image that the mask belongs to first. */
export function maskedFirst({ images = [], mask, mask_over = 0 }: Job<Asset>): Asset[] {
  if (!mask || mask_over === 0) return images;
  return [...images.slice(mask_over, mask_over + 1), ...images.filter((_, index) => index !== mask_over)];
}
