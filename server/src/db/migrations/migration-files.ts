// The SQL files of the schema. The first line of a file after the baseline declares whether the previous version of the
// program keeps working: an `expand` migration only adds, a `contract` migration removes what no program since the
// named migration uses.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

export const MIGRATIONS_FOLDER = new URL("../../../migrations/", import.meta.url);

/** The files up to this number create the first schema. No program is older than them. */
const LAST_BASELINE_NUMBER = 11;

export type Migration = {
  name: string;
  /** Programs are as old as the last migration they contain. */
  number: number;
  kind: "baseline" | "expand" | "contract";
  /** The lowest number of the last migration that a program must contain to run on the schema after this one. */
  lowestProgram: number;
  sql: string;
  sha256: string;
};

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
const EXPAND = /^-- expand: \S/;
const CONTRACT = /^-- contract since (\d{4}): \S/;

export async function readMigrations(folder: URL = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(names.map(async (name) => parseMigration(name, await readFile(new URL(name, folder), "utf8"))));
}

export function parseMigration(name: string, sql: string): Migration {
  const number = Number(FILE_NAME.exec(name)?.[1]);
  if (!number) throw new Error(`${name}: migrations are named like 0012_add_regions.sql`);
  return { name, number, ...declarationOf(name, number, sql), sql, sha256: sha256Of(sql) };
}

const sha256Of = (sql: string) => createHash("sha256").update(sql).digest("hex");

function declarationOf(name: string, number: number, sql: string): Pick<Migration, "kind" | "lowestProgram"> {
  if (number <= LAST_BASELINE_NUMBER) return { kind: "baseline", lowestProgram: number };
  if (EXPAND.test(sql)) return { kind: "expand", lowestProgram: 0 };
  const since = Number(CONTRACT.exec(sql)?.[1]);
  if (!since) throw new Error(`${name}: the first line is "-- expand: …" or "-- contract since NNNN: …"`);
  if (since >= number) throw new Error(`${name}: ${since} is not an earlier migration`);
  return { kind: "contract", lowestProgram: since };
}
