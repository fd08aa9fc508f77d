// `gesso dev` for test files. It starts in half the CPU time, with the bundled programs and a copy of the migrated data
// directory, and the sandbox draws small images where a request names no size.
import { join } from "node:path";
import { type GessoInstance, type StartOptions, startGesso } from "@gesso/dev/start";
import { type BundledPrograms, bundlePrograms } from "./bundled-programs.ts";
import { copyMigratedData } from "./shared-postgres.ts";

const SIDE = 256;

export type DevelopmentGesso = GessoInstance & { programs: BundledPrograms };

/** `dataDir` must be new, and the caller removes it. */
export async function startDevelopmentGesso(
  options: Pick<StartOptions, "dataDir" | "port">,
): Promise<DevelopmentGesso> {
  const programs = await bundlePrograms();
  await copyMigratedData(join(options.dataDir, "postgres"));
  const gesso = await startGesso({ ...options, entries: programs, sandboxSide: SIDE, log: () => {} });
  return { ...gesso, programs };
}
