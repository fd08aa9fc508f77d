// What a request for an imported model says: the name of the model and its input, and the errors about the input.
import { errorsWithin, type FieldErrors, groupFieldErrors, parsePointer } from "../forms/field-errors.ts";
import type { FormValues } from "../forms/form-values.ts";

export const INPUT = "input";

export const inputOf = ({ input }: FormValues): FormValues =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? (input as FormValues) : {};

/** The errors of a request by the fields of the model: that of `/input/duration` is about `duration`. */
export function inputErrors(errors: FieldErrors): FieldErrors {
  const all = errors.get(INPUT) ?? [];
  const names = new Set(all.flatMap(({ path }) => parsePointer(path)[1] ?? []));
  const whole = all.filter(({ path }) => parsePointer(path).length === 1).map((error) => ({ ...error, path: "" }));
  return groupFieldErrors([...whole, ...[...names].flatMap((name) => errorsWithin(all, name))]);
}

/** The name that a request has in its field `model`. */
export const modelNameOf = ({ model }: Readonly<Record<string, unknown>>): string | undefined =>
  typeof model === "string" && model !== "" ? model : undefined;
