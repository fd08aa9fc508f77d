// Pictures that come with a request, as base64 or as files, are kept before the run is planned: plans, rows and the
// engine's journal only ever hold their names.
import { readFile } from "node:fs/promises";
import { forgetAssets, keepSource } from "../db/assets.ts";
import { Fault } from "../faults.ts";
import { isFilePart } from "../kit/files.ts";
import { findInline, inlineBytes, keptAs } from "../kit/images.ts";
import type { Parsed } from "../kit/parse.ts";
import type { Json } from "../kit/shapes.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import type { Kept } from "./store.ts";
import { type TakenIn, takeIn } from "./take-in.ts";

const MOST_BYTES = 25 * 1024 * 1024;

export type Staged = { parsed: Parsed; files: Kept[]; undo(): Promise<void> };

type Run = { run_id: string; tenant_id: string };

export async function stageInline(house: House, run: Run, parsed: Parsed): Promise<Staged> {
  const found = findInline(parsed.input);
  if (found.length === 0) return { parsed, files: [], undo: async () => {} };
  const files: Kept[] = [];
  const all: NonNullable<TakenIn["evidence"]>[] = [];
  const undo = async () => {
    await forgetAssets(
      house.db,
      all.map((file) => file.asset_id),
    );
    await house.storage.delete(all.map((file) => file.storage_key));
  };
  let { input, given } = parsed;
  try {
    for (const { path, value } of found) {
      const asset_id = idWithin(run.run_id, "given", ...path);
      const { file, evidence } = await takeIn(house, run, { asset_id, role: "source", bytes: await readGiven(value) });
      all.push(file, ...(evidence ? [evidence] : []));
      await keepSource(house.db, run, file);
      files.push(file);
      input = replaceAt(input, path, keptAs(asset_id));
      given = replaceAt(given, path, keptAs(asset_id));
    }
  } catch (thrown) {
    // A request that is refused for its last picture leaves none of the others behind.
    await undo().catch(() => {});
    throw thrown;
  }
  return { parsed: { input, given }, files, undo };
}

async function readGiven(value: unknown): Promise<Uint8Array> {
  const bytes = isFilePart(value) ? await readFile(value.path) : inlineBytes(value)!;
  if (bytes.length > MOST_BYTES) throw new Fault("payload_too_large");
  return bytes;
}

function replaceAt(input: Json, [first, ...rest]: (string | number)[], value: unknown): Json {
  const copy = (Array.isArray(input) ? [...input] : { ...input }) as Json;
  copy[first!] = rest.length === 0 ? value : replaceAt(copy[first!] as Json, rest, value);
  return copy;
}
