// The details of an audit entry as names and values. Entries of an earlier version can have any shape.
type Detail = { name: string; value: string };

const MAX_LETTERS = 200;

const toWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(toWords).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

export const detailsOf = (details: Readonly<Record<string, unknown>>): Detail[] =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => ({ name: name.replaceAll("_", " "), value: toWords(value).slice(0, MAX_LETTERS) }));
