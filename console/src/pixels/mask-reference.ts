// Finds the mask of a run in what its request set, so that a page can measure what changed outside of it.
import type { Run } from "@gesso/client";

export type MaskReference = { runId: string; outputIndex: number } | { url: string };

const MASK_FIELD = /^mask(_|$)/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Only stored files: the content security policy allows no others. */
const STORED_FILE = /^https?:\/\/[^/]+\/files\//i;

export function findMaskReference({ given, inputs }: Pick<Run, "given" | "inputs">): MaskReference | undefined {
  const fields = Object.entries(given ?? inputs).filter(([name]) => MASK_FIELD.test(name));
  return fields.map(([, value]) => parseMaskReference(value)).find((each) => each !== undefined);
}

function parseMaskReference(value: unknown): MaskReference | undefined {
  if (typeof value === "string" && UUID.test(value)) return { runId: value, outputIndex: 0 };
  if (typeof value === "string" && STORED_FILE.test(value)) return { url: value };
  const { run_id, output_index } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof run_id !== "string" || !UUID.test(run_id)) return undefined;
  return { runId: run_id, outputIndex: typeof output_index === "number" ? output_index : 0 };
}
