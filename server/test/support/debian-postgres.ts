// PostgreSQL of Debian's packages, for drills with programs that do not know the version which Gesso installs.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findOrInstall } from "./installed-programs.ts";

const DIRECTORY = "/usr/lib/postgresql";

/** The directory with the programs of the newest installed version. */
export const findPostgresBinaries = (): string =>
  findOrInstall("postgresql", "postgresql", () => {
    const versions = existsSync(DIRECTORY) ? readdirSync(DIRECTORY) : [];
    const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
    return newest && join(DIRECTORY, newest, "bin");
  });
