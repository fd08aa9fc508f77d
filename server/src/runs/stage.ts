// Pictures that come with a request, as base64 or as files, are kept before the run is planned: plans, rows and the
// engine's journal only ever hold their names.
import { readFile } from "node:fs/promises";
import { forgetAssets, keepSource } from "../db/assets.ts";
import { Fault } from "../faults.ts";
import { isFilePart } from "../kit/files.ts";
import { findInline, inlineBytes, keptAs } from "../kit/images.ts";
import type { Parsed } from "../kit/parse.ts";
import type { Json } from "../kit/shapes.ts";
import { normalizeUpload } from "../media/inspect.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { type Kept, keepFile } from "./store.ts";

const MOST_BYTES = 25 * 1024 * 1024;

export type Staged = { parsed: Parsed; files: Kept[]; undo(): Promise<void> };

export async function stageInline(
  house: House,
  run: { run_id: string; tenant_id: string },
  parsed: Parsed,
): Promise<Staged> {
  const found = findInline(parsed.input);
  if (found.length === 0) return { parsed, files: [], undo: async () => {} };
  const files: Kept[] = [];
  let { input, given } = parsed;
  for (const { path, value } of found) {
    const raw = isFilePart(value) ? await readFile(value.path) : inlineBytes(value)!;
    if (raw.length > MOST_BYTES) throw new Fault("payload_too_large");
    const { bytes, ...seen } = await normalizeUpload(raw);
    const asset_id = idWithin(run.run_id, "given", ...path);
    const file = await keepFile(house, run, { asset_id, role: "source", bytes, seen });
    await keepSource(house.db, run, file);
    files.push(file);
    input = replaceAt(input, path, keptAs(file.asset_id));
    given = replaceAt(given, path, keptAs(file.asset_id));
  }
  const undo = async () => {
    await forgetAssets(
      house.db,
      files.map((file) => file.asset_id),
    );
    await house.storage.delete(files.map((file) => file.storage_key));
  };
  return { parsed: { input, given }, files, undo };
}

function replaceAt(input: Json, [first, ...rest]: (string | number)[], value: unknown): Json {
  const copy = (Array.isArray(input) ? [...input] : { ...input }) as Json;
  copy[first!] = rest.length === 0 ? value : replaceAt(copy[first!] as Json, rest, value);
  return copy;
}
