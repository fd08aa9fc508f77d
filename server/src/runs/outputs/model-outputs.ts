// The files in the result of an imported model: those that its schema announces, any other at an origin of the
// provider's results, so that no URL of the provider reaches a caller, and large data URLs, so that no file is in the
// row of a run. A URL anywhere else stays text.
import { storedAssetReference } from "../../contract/image-fields.ts";
import { decodeDataUrl } from "../../contract/model-run.ts";
import type { ModelRun } from "../../contract/operation.ts";
import { type FilePath, findFiles, type MediaKind, replaceAt } from "../../contract/pinned-model.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import { isAllowedOrigin } from "../../outbound/url-policy.ts";
import type { ProviderOutput } from "../../providers/provider.ts";

export type ModelOutputs = {
  /** `kind`: what the schema announces. */
  outputs: { output: ProviderOutput; kind: MediaKind }[];
  /** The result with references to the stored files, in the order of `outputs`, in the places of the URLs. */
  fillIn(assetIds: string[]): JsonObject;
};

/** A result with more files is no result that a caller can use. */
const MAX_FILES = 200;
const MAX_DEPTH = 12;
/** A shorter data URL that no schema announces stays text: it can be an icon of a page. */
const MAX_INLINE_CHARACTERS = 64 * 1024;

/** Throws provider_output_invalid if files are announced and there is none. `raw` need not be an object. */
export function findModelOutputs(
  { outputs: announcedFields }: Pick<ModelRun, "outputs">,
  raw: unknown,
  origins: readonly string[],
): ModelOutputs {
  const isObject = raw !== null && typeof raw === "object" && !Array.isArray(raw);
  const data = isObject ? (raw as JsonObject) : { output: raw };
  const announced = findFiles(raw, announcedFields).flatMap(({ path, value, kind }) => {
    if (typeof value !== "string") return [];
    const at = isObject ? path : ["output", ...path];
    const output = toOutput(value, origins);
    if (output) return [{ path: at, output, kind }];
    // Such as sound without a header: its first bytes are of no kind.
    const bytes = decodePlainBase64(value);
    return bytes
      ? [{ path: at, output: { bytes, media_type: "application/octet-stream" }, kind: "file" as const }]
      : [];
  });
  const isAnnounced = (path: FilePath) => announced.some((each) => isSamePath(each.path, path));
  const others = listTexts(data).flatMap(({ path, value }) => {
    const output = isAnnounced(path) ? undefined : toOutput(value, origins);
    const isFile = output && ("url" in output ? !output.isForeign : value.length > MAX_INLINE_CHARACTERS);
    return isFile ? [{ path, output, kind: "file" as const }] : [];
  });
  const found = [...announced, ...others];
  if (found.length === 0 && announcedFields.length > 0)
    throw new Fault("provider_output_invalid", { reason: "no_output" });
  if (found.length > MAX_FILES) throw new Fault("provider_output_invalid", { reason: "too_many_files" });
  return {
    outputs: found.map(({ output, kind }) => ({ output, kind })),
    fillIn: (assetIds) =>
      assetIds.reduce((root, id, index) => replaceAt(root, found[index]!.path, storedAssetReference(id)), data),
  };
}

const isSamePath = (a: FilePath, b: FilePath) => a.length === b.length && a.every((part, index) => part === b[index]);

function listTexts(data: JsonObject): { path: FilePath; value: string }[] {
  const found: { path: FilePath; value: string }[] = [];
  const walk = (value: unknown, path: FilePath): void => {
    if (path.length > MAX_DEPTH) return;
    if (typeof value === "string") found.push({ path, value });
    else if (Array.isArray(value)) for (const [index, each] of value.entries()) walk(each, [...path, index]);
    else if (value !== null && typeof value === "object")
      for (const [key, each] of Object.entries(value)) walk(each, [...path, key]);
  };
  walk(data, []);
  return found;
}

const PLAIN_BASE64 = /^[A-Za-z0-9+/]{64,}={0,2}$/;

/** Shorter texts can be words. */
const decodePlainBase64 = (text: string): Buffer | undefined =>
  PLAIN_BASE64.test(text) && text.length % 4 === 0 ? Buffer.from(text, "base64") : undefined;

/** Undefined for a text that is no file: it stays text, even where one was announced. */
function toOutput(text: string, origins: readonly string[]): ProviderOutput | undefined {
  const bytes = decodeDataUrl(text);
  if (bytes) return { bytes, media_type: text.slice("data:".length, text.indexOf(";")) };
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return { url: text, ...(!isAllowedOrigin(text, origins) && { isForeign: true as const }) };
}
