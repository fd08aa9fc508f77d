// Where the models and what runs them were put: outside of the house, by `npm run models`. Nothing of it is needed to
// build, check or start the house.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Counted up when an older installation will no longer do. */
export const MODELS_INSTALLATION_VERSION = 1;

const PROJECT_ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** One place for all who work in this house, whatever folder they were started in. */
export const modelsFolder = (given: string | undefined): string =>
  resolve(given ?? join(PROJECT_ROOT, ".gesso", "models"));

/** The list is written last, so it is there only when everything else is. */
export const areModelsInstalled = (folder: string): boolean => {
  const list = join(folder, "models.json");
  if (!existsSync(list)) return false;
  try {
    return JSON.parse(readFileSync(list, "utf8")).installation === MODELS_INSTALLATION_VERSION;
  } catch {
    return false;
  }
};

/** A package of that folder. The caller says what it uses of it. */
export const requireFromFolder = <Face>(folder: string, name: string): Face =>
  createRequire(join(folder, "package.json"))(name) as Face;

/** What we use of onnxruntime-node. */
export type Tensor = { data: Float32Array };
export type Session = {
  inputNames: string[];
  outputNames: string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
};
export type Runtime = {
  InferenceSession: { create(model: string | Uint8Array, options: object): Promise<Session> };
  Tensor: new (type: "float32", data: Float32Array, shape: number[]) => Tensor;
};

/**
 * Two threads, and they sleep while they wait: spinning halves the speed of a machine that has other work. Without the
 * arena memory is given back after each picture.
 */
export const SESSION_OPTIONS = {
  intraOpNumThreads: 2,
  enableCpuMemArena: false,
  extra: { session: { intra_op: { allow_spinning: "0" } } },
};
