// The two runs of a comparison, as they stand in the URL: `?items=first,second`.
const RUN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function parseItems(items: string | undefined): [first: string, second: string] | undefined {
  const [first = "", second = "", ...rest] = (items ?? "").split(",");
  return RUN_ID.test(first) && RUN_ID.test(second) && rest.length === 0 ? [first, second] : undefined;
}

export type InputDifference = { field: string; first: unknown; second: unknown };

/** The fields whose values differ, in the order of their names. Fields that neither request set are left out. */
export function differencesOf(first: Record<string, unknown>, second: Record<string, unknown>): InputDifference[] {
  const fields = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort();
  return fields
    .filter((field) => JSON.stringify(first[field]) !== JSON.stringify(second[field]))
    .map((field) => ({ field, first: first[field], second: second[field] }));
}
