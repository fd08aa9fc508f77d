// What a user can put into an image field: a file, a URL or a run. Files are checked before they are uploaded.
import { formatBytes } from "../format/bytes.ts";
import { text } from "../text/text.ts";

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const HTTP_URL = /^https?:\/\/\S+$/i;
const MAX_BYTES = 25 * 1024 * 1024;
const MEDIA_TYPES = ["image/png", "image/jpeg", "image/webp"];

export const ACCEPTED_FILES = MEDIA_TYPES.join(",");

export type ImageReference = { kind: "url"; url: string } | { kind: "run"; runId: string };

const isRunId = (value: unknown): value is string => typeof value === "string" && UUID.test(value);

/** The address of a run's page, as a link that was copied or dragged has it. */
const RUN_PAGE = /\/console\/runs\/([\da-f-]{36})(?:[?#].*)?$/i;

export function parseReference(given: string): ImageReference | undefined {
  const value = given.trim();
  const [, pageRunId] = RUN_PAGE.exec(value) ?? [];
  if (isRunId(pageRunId)) return { kind: "run", runId: pageRunId.toLowerCase() };
  if (isRunId(value)) return { kind: "run", runId: value.toLowerCase() };
  return HTTP_URL.test(value) ? { kind: "url", url: value } : undefined;
}

type FileFacts = Pick<File, "name" | "type" | "size">;

/** Why a file cannot be used; undefined if it can. The server decides by the bytes and can still refuse it. */
export function fileProblem({ name, type, size }: FileFacts): string | undefined {
  if (!MEDIA_TYPES.includes(type)) return text.image.unsupported(name);
  if (size === 0) return text.image.empty(name);
  return size > MAX_BYTES ? text.image.tooLarge(name, formatBytes(size)) : undefined;
}

/** The run ID of a value of an image field: the ID itself, or the reference to one of a run's outputs. */
export function runIdOf(value: unknown): string | undefined {
  if (isRunId(value)) return value;
  const { run_id } = (typeof value === "object" && value !== null ? value : {}) as { run_id?: unknown };
  return isRunId(run_id) ? run_id : undefined;
}
