// Copies of the server's program for tests with two versions: an earlier commit, or this version with changes. A copy
// uses the installed packages of this clone.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Replaces a text that must occur in the file, or adds the file if there is nothing to replace. */
export type FileChange = { path: string; from?: string; to: string };

const git = (...parameters: string[]) =>
  execFileSync("git", parameters, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

/** The program at a commit. Returns its entry file. */
export function checkOutProgram(commit: string, directory: string): string {
  prepare(directory);
  const archive = execFileSync("git", ["archive", "--format=tar", commit, "server"], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync("tar", ["-x", "-C", directory], { input: archive });
  return entryOf(directory);
}

/** This version with changes. Returns its entry file. */
export function copyProgram(directory: string, changes: FileChange[]): string {
  prepare(directory);
  for (const folder of ["src", "migrations", "package.json"])
    cpSync(join(ROOT, "server", folder), join(directory, "server", folder), { recursive: true });
  for (const { path, from, to } of changes) {
    const file = join(directory, "server", path);
    const text = from === undefined ? "" : readFileSync(file, "utf8");
    if (from !== undefined && !text.includes(from)) throw new Error(`${path} does not contain: ${from}`);
    writeFileSync(file, from === undefined ? to : text.replace(from, to));
  }
  return entryOf(directory);
}

function prepare(directory: string): void {
  mkdirSync(directory, { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
}

const entryOf = (directory: string) => resolve(directory, "server/src/main.ts");

/**
 * The commit of the previous version. Until the first release the baseline of the schema may change, so the version is
 * never older than its last change: two programs with different baselines cannot share a database.
 */
export function resolvePreviousVersion(revision: string): string {
  let marked: string;
  try {
    marked = git("rev-parse", "--verify", `${revision}^{commit}`);
  } catch (cause) {
    throw new Error(
      `${revision} is not in this clone. Fetch the whole history, or change server/test/upgrade/previous-version.json.`,
      { cause },
    );
  }
  const baseline = git("log", "-1", "--format=%H", "--", "server/migrations/000*.sql");
  const isOlder = git("merge-base", marked, baseline) === marked;
  return isOlder ? baseline : marked;
}
