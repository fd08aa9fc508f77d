// The two runs of a comparison, as they stand in the URL: `?items=first,second`.
const RUN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function parseItems(items: string | undefined): [first: string, second: string] | undefined {
  const [first = "", second = "", ...rest] = (items ?? "").split(",");
  return RUN_ID.test(first) && RUN_ID.test(second) && rest.length === 0 ? [first, second] : undefined;
}

export type InputDifference = { field: string; first: unknown; second: unknown; isDifferent: boolean };

const FIRST_FIELDS = ["prompt", "model", "seed"];
const rankOf = (field: string) => (FIRST_FIELDS.includes(field) ? FIRST_FIELDS.indexOf(field) : FIRST_FIELDS.length);

/** All fields that one of the requests set: prompt, model and seed first, then by name. */
export function differencesOf(first: Record<string, unknown>, second: Record<string, unknown>): InputDifference[] {
  const fields = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return fields
    .sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map((field) => ({
      field,
      first: first[field],
      second: second[field],
      isDifferent: JSON.stringify(first[field]) !== JSON.stringify(second[field]),
    }));
}
