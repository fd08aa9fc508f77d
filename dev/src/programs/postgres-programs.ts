// Finds the programs of PostgreSQL in the npm package of this system. Links between its libraries are made at the first
// use, because npm may have been told not to run the package's install script.
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findPostgresModule } from "./find-program.ts";

export type PostgresPrograms = { initdb: string; postgres: string };

export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const entry = findPostgresModule();
  if (entry === undefined) throw new Error("PostgreSQL is not installed. Run gesso dev, which installs it.");
  linkLibraries(dirname(dirname(entry)));
  return (await import(entry)) as PostgresPrograms;
}

/** An npm package has no links: the package has a list of them instead. Existing links stay as they are. */
export function linkLibraries(packageFolder: string): void {
  const list = join(packageFolder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (cause) {
      // Another process may have made it meanwhile.
      if ((cause as { code?: string }).code === "EEXIST") continue;
      throw new Error(`Cannot link the libraries of PostgreSQL in ${packageFolder}. Run gesso once as its owner.`, {
        cause,
      });
    }
  }
}
