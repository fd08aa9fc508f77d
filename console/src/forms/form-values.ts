// The values of a form: only the fields that the user set. A field without a value is absent, so a request has exactly
// what the user set, and defaults stay the server's.
export type FormValues = Readonly<Record<string, unknown>>;

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

export function setFormValue(values: FormValues, name: string, value: unknown): FormValues {
  const { [name]: _replaced, ...rest } = values;
  return isEmpty(value) ? rest : { ...rest, [name]: value };
}

/** The same text for the same values, in whatever order they were set. */
export function fingerprintOf(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** Values of another form that this form has too, for a change of the operation. */
export const keepKnownValues = (values: FormValues, names: readonly string[]): FormValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
