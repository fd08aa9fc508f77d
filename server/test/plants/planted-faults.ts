// Reads the planted faults: patches of this folder, each with a header that says which promise it breaks and which
// command must notice it.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export type PlantedFault = {
  name: string;
  file: string;
  promise: string;
  /** The arguments of `npx`: the shortest test that notices the fault. */
  command: string;
  /** A part of the line with which the command reports the fault. */
  failure: string;
  /** Whether the simulation of the gate notices the fault. It stands for PostgreSQL and the steps, so it sees few. */
  isSimulated: boolean;
  /** The files that the patch changes. */
  paths: string[];
  /** True if the promise must hold in spite of the fault. */
  holds: boolean;
  /** How often the command may be tried; more than once if the fault shows only by chance. */
  tries: number;
};

export const readPlantedFaults = (): PlantedFault[] =>
  readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(".patch"))
    .sort()
    .map((file) => readPlantedFault(join(import.meta.dirname, file)));

function readPlantedFault(file: string): PlantedFault {
  const text = readFileSync(file, "utf8");
  const [header = ""] = text.split(/^diff --git/m);
  const read = (field: string) => new RegExp(`^${field}: (.+)$`, "m").exec(header)?.[1]?.trim();
  const [promise, command, failure] = [read("Promise"), read("Command"), read("Failure")];
  const holds = read("Expects") === "holds";
  const simulation = read("Simulation");
  if (!promise || !command || !simulation || (!failure && !holds))
    throw new Error(`the header of ${file} is incomplete`);
  return {
    name: basename(file, ".patch"),
    ...{ file, promise, command, holds },
    failure: failure ?? "",
    isSimulated: simulation === "seen",
    paths: [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, path]) => path!),
    tries: Number(read("Tries") ?? 1),
  };
}
