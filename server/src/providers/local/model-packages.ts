// Finds the local models and their runtimes, which `npm run models -- install` downloads. They are not needed to build,
// check or start Gesso.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

/** Increased when older installations are incompatible. */
export const MODELS_INSTALLATION_VERSION = 1;

/** Beside the other data, by default: never in the folder of the program, which an update replaces. */
export const modelsFolder = (given: string | undefined): string => resolve(given ?? join(".gesso", "models"));

/** The manifest is written last, so it exists only if the installation is complete. */
export const areModelsInstalled = (folder: string): boolean => {
  const list = join(folder, "models.json");
  if (!existsSync(list)) return false;
  try {
    return JSON.parse(readFileSync(list, "utf8")).installation === MODELS_INSTALLATION_VERSION;
  } catch {
    return false;
  }
};

/** Imports a package of that directory; the caller defines its type. */
export const requireFromFolder = <Face>(folder: string, name: string): Face =>
  createRequire(join(folder, "package.json"))(name) as Face;

/** The functions of onnxruntime-node that are used here. */
export type Tensor = { data: Float32Array };
export type Session = {
  inputNames: string[];
  outputNames: string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
};
export type ModelRuntime = {
  InferenceSession: { create(model: string | Uint8Array, options: object): Promise<Session> };
  Tensor: new (type: "float32", data: Float32Array, shape: number[]) => Tensor;
};

/**
 * Two threads without spinning, which would slow down a machine with other work. Without the arena, memory is freed
 * after each image.
 */
export const SESSION_OPTIONS = {
  intraOpNumThreads: 2,
  enableCpuMemArena: false,
  extra: { session: { intra_op: { allow_spinning: "0" } } },
};
