// Identifies the code of this program by its files, so that two versions never have the same deployment in the engine.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = ["src", "migrations"];
const isProgram = (path: string) => /\.(ts|js|sql)$/.test(path) && !/\.test\.(ts|js)$/.test(path);

/** A digest of the program's files: the same on every machine with this version. */
export function computeBuildId(): string {
  const digest = createHash("sha256");
  for (const folder of FOLDERS) {
    const paths = readdirSync(join(SERVER, folder), { recursive: true, encoding: "utf8" }).filter(isProgram).sort();
    for (const path of paths) digest.update(`${folder}/${path}\0`).update(readFileSync(join(SERVER, folder, path)));
  }
  return digest.digest("hex").slice(0, 12);
}
