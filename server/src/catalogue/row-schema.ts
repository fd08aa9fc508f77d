// The schema of a row in `gesso.yaml`: which field of a model gets which parameter of a task.
import { z } from "zod";
import { TASK_PARAMETERS } from "../contract/task-parameters.ts";
import type { ImageField, MaskField, SizeField, ValueField } from "../providers/offer-row.ts";

const FIELDS = "fields must be a mapping of parameters to fields of the model, such as { prompt: prompt }";
const FIELD =
  "must be the name of a field, or a mapping of field, as, values, default, suffix, within, unless and with";
const IMAGES =
  "images must be a field such as image_url, a list such as image_urls[], a list of fields, or a mapping of field, " +
  "resized and masked_first";
const MASK = "mask must be a field, or a mapping of field and form: inverted or transparent";
const SIZE = "size must be a mapping of field and as: object or text";
const WITHIN = "within must be { least, most }";

const fieldName = (message: string) => z.string(message).min(1, message).max(100, message);
const anything = z.record(z.string(), z.unknown());

const ValueForm = (message: string) =>
  z.union(
    [
      fieldName(message),
      z.strictObject({
        field: fieldName(message),
        as: z.enum(["text", "seconds", "times"]).optional(),
        values: anything.optional(),
        default: z.unknown().optional(),
        suffix: z.string().optional(),
        within: z.strictObject({ least: z.number(), most: z.number() }, WITHIN).optional(),
        unless: z.string().optional(),
        with: anything.optional(),
      }),
    ],
    message,
  );

const ImageForm = z.union(
  [
    fieldName(IMAGES),
    z.array(fieldName(IMAGES)).min(1),
    z
      .strictObject({
        field: fieldName(IMAGES),
        resized: z.literal(true).optional(),
        masked_first: z.literal(true).optional(),
      })
      .transform(({ masked_first, ...form }) => ({ ...form, ...(masked_first && { maskedFirst: masked_first }) })),
  ],
  IMAGES,
);
const MaskForm = z.union(
  [fieldName(MASK), z.strictObject({ field: fieldName(MASK), form: z.enum(["inverted", "transparent"]) })],
  MASK,
);

/** Width, height, masks and LoRAs have no field of one name. */
const WITHOUT_FIELD = ["images", "mask", "masks", "width", "height"];
const VALUE_NAMES = [...new Set(Object.values(TASK_PARAMETERS).flat())].filter((name) => !WITHOUT_FIELD.includes(name));

export const RowFieldsSetting = z.strictObject(
  {
    ...Object.fromEntries(VALUE_NAMES.map((name) => [name, ValueForm(`${name} ${FIELD}`).optional()])),
    images: ImageForm.optional(),
    mask: MaskForm.optional(),
    size: z.strictObject({ field: fieldName(SIZE), as: z.enum(["object", "text"], SIZE) }, SIZE).optional(),
  },
  { error: ({ code }) => (code === "unrecognized_keys" ? undefined : FIELDS) },
) as z.ZodType<RowFieldsSetting>;
export type RowFieldsSetting = Record<string, ValueField> & {
  images?: ImageField;
  mask?: MaskField;
  size?: SizeField;
};
