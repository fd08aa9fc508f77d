// Rules between fields, as functions: a bundle has the code of only those rules that its operations use. The messages
// equal those of the server.
import { checkObject, type FieldRule, type Fields, fieldError, REQUIRED_MESSAGE, type Schema } from "./validation.ts";

const listMissing = (fields: readonly string[], input: Fields) =>
  fields.filter((field) => input[field] === undefined || input[field] === null);

/** Error codes of missing fields that have their own; for all others the code is `required`. */
const MISSING_FIELD_CODES: Readonly<Record<string, string>> = {
  aspect_ratio: "aspect_ratio_required",
  model_id: "model_id_required",
  lora_low_name: "lora_pair_required",
  lora_high_name: "lora_pair_required",
};

const missingField = (field: string, message: string) =>
  fieldError(`/${field}`, MISSING_FIELD_CODES[field] ?? "required", message);

export const allRequired =
  (...fields: string[]): FieldRule =>
  (input, condition) =>
    listMissing(fields, input).map((field) =>
      missingField(field, condition ? `${field} is required${condition}.` : REQUIRED_MESSAGE),
    );

export const anyRequired =
  (...fields: string[]): FieldRule =>
  (input) =>
    listMissing(fields, input).length < fields.length ? [] : [choiceError(fields, "at_least_one_of", "at least")];

export const exactlyOneRequired =
  (...fields: string[]): FieldRule =>
  (input) =>
    listMissing(fields, input).length === fields.length - 1 ? [] : [choiceError(fields, "exactly_one_of", "exactly")];

const choiceError = (fields: string[], code: string, howMany: string) =>
  fieldError(`/${fields[0]}`, code, `Send ${howMany} one of ${fields.join(", ")}.`);

export const allOrNone =
  (...fields: string[]): FieldRule =>
  (input) => {
    const missing = listMissing(fields, input);
    const message = `Send all of ${fields.join(", ")}, or none of them.`;
    return missing.length === fields.length ? [] : missing.map((field) => missingField(field, message));
  };

/** Narrower schemas of some fields. */
export const within =
  (properties: Readonly<Record<string, Schema>>): FieldRule =>
  (input, condition = "") =>
    checkObject({ properties }, input, "").map((error) => ({
      ...error,
      message: error.message.replace(/\.$/, `${condition}.`),
    }));

/** A rule that applies if a field has this value. */
export const ifEquals =
  (field: string, value: unknown, then: FieldRule): FieldRule =>
  (input) =>
    input[field] === value ? then(input, ` when ${field} is ${value}`) : [];
