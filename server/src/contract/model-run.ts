// Runs of imported models: the plan, and the result as callers see it. Both are pure functions of what is stored.
import { isImageReference, parseSource, storedAssetReference } from "./image-fields.ts";
import { toPointer } from "./json-pointer.ts";
import type { ImportedModel, Job, RunResult, Source } from "./operation.ts";
import { findFiles, replaceAt } from "./pinned-model.ts";
import { RunOutputReference } from "./run-outputs.ts";
import type { JsonObject } from "./schemas/run.ts";

/** The only job of a run. Files are sources as those of any job; the input has null in their places. */
export function planModelRun(model: ImportedModel, input: JsonObject): Job {
  const files = findFiles(input, model.media.input);
  const images = files.map(({ value }) => asItIs(parseSource(value)));
  return {
    task: "model.run",
    model: model.model,
    ...(images.length > 0 && { images }),
    model_run: {
      input: files.reduce((root, { path }) => replaceAt(root, path, null), input),
      files: files.map(({ path }) => path),
      outputs: model.media.output,
      version: model.version,
      call_price: model.call_price,
    },
  };
}

/** A frame of a video is an image that Gesso makes of the file. */
const asItIs = (source: Source): Source =>
  "frame" in source && source.frame ? source : ({ ...source, as_is: true } as Source);

/** Names of the text that a model mainly works from, the most telling first. As in `PROMPT` of db/runs/runs.ts. */
const PROMPT_FIELDS = ["prompt", "text", "lyrics", "question"];

/** What a person wrote, as runs are listed and found by it. An imported model has it in its own input. */
export function promptOf(inputs: JsonObject): string | undefined {
  const own = (inputs.input ?? {}) as JsonObject;
  const values = [inputs.prompt, ...PROMPT_FIELDS.map((name) => own[name])];
  return values.find((each): each is string => typeof each === "string");
}

/** The pointers to what stands where a file belongs and is none. */
export const findNoFiles = (model: ImportedModel, input: JsonObject): string[] =>
  findFiles(input, model.media.input)
    .filter(({ value }) =>
      typeof value === "string" ? !isFileReference(value) : !RunOutputReference.safeParse(value).success,
    )
    .map(({ path }) => `/input${toPointer(path)}`);

const DATA_URL = /^data:[a-z0-9.+-]+\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/_-]+={0,2}$/i;
const DATA_HEAD = /^data:[^,]{1,200},/;

const isFileReference = (text: string) => isImageReference(text) || DATA_HEAD.test(text);

/** The bytes of a file of any medium that is in the input as a data URL. Undefined for any other text. */
export function decodeDataUrl(text: string): Buffer | undefined {
  if (!DATA_URL.test(text)) return undefined;
  return Buffer.from(text.slice(text.indexOf(",") + 1), "base64");
}

/**
 * The provider's result with the URLs of stored files in the places of its own. Only files of this run get a URL: a
 * text of the provider that looks like a reference stays text.
 */
export function showModelResult({ jobs, data }: RunResult): JsonObject | null {
  if (!data) return null;
  const urls = new Map(jobs.flat().map(({ asset_id, url }) => [storedAssetReference(asset_id), url]));
  const show = (value: unknown): unknown => {
    if (typeof value === "string") return urls.get(value) ?? value;
    if (Array.isArray(value)) return value.map(show);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, show(each)]));
  };
  return show(data) as JsonObject;
}
