// The values of a model's fields: what stays when another model is chosen, and what is missing for a request.
import { type FormValues, setFormValue } from "../forms/form-values.ts";
import type { FormField } from "../forms/operation-forms.ts";

const isChoice = ({ widget }: FormField) => widget === "choice" || widget === "switch";

/** Sets a value. Of a choice, the default is no value: the request has only what the user changed. */
export const setModelValue = (values: FormValues, field: FormField, value: unknown): FormValues =>
  setFormValue(values, field.name, isChoice(field) && value === field.default ? undefined : value);

/** The values that another model's fields take too, so that a prompt survives the choice of a model. */
export function keepModelValues(values: FormValues, before: readonly FormField[], after: readonly FormField[]) {
  const isKept = (name: string) => {
    const old = before.find((field) => field.name === name);
    const next = after.find((field) => field.name === name);
    if (!next || old?.widget !== next.widget || next.widget === "group") return false;
    return next.options === undefined || next.options.includes(values[name]);
  };
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}

const isMissing = (values: FormValues, { name, isRequired }: FormField) =>
  isRequired === true && values[name] === undefined;

/** The first text that must be written before the model can run. */
export const findMissingText = (fields: readonly FormField[], values: FormValues): FormField | undefined =>
  fields.find((field) => field.isLong && isMissing(values, field));

/** The input with a word for every missing text, to ask for the price. Undefined if something else is missing. */
export function inputForPrice(fields: readonly FormField[], values: FormValues): FormValues | undefined {
  const missing = fields.filter((field) => isMissing(values, field));
  if (missing.some(({ widget }) => widget !== "text")) return undefined;
  return { ...Object.fromEntries(missing.map(({ name, label }) => [name, label])), ...values };
}

/** The fields at the top of the form, and the optional ones after them if there are many. */
export function splitFields(fields: readonly FormField[]): { main: FormField[]; folded: FormField[] } {
  const isMain = ({ isRequired }: FormField, index: number) => isRequired === true || index < MAX_MAIN_FIELDS;
  const isShort = fields.length <= MAX_MAIN_FIELDS + 2;
  return {
    main: fields.filter((field, index) => isShort || isMain(field, index)),
    folded: fields.filter((field, index) => !isShort && !isMain(field, index)),
  };
}

const MAX_MAIN_FIELDS = 10;
