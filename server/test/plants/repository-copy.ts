// A copy of the repository's files, including uncommitted changes, in which a fault can be planted. The dependencies
// are links to the installed ones; the packages of the repository itself are those of the copy.
import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "../../..");

export type RepositoryCopy = {
  path: string;
  /** Applies the copy of a patch of the repository. */
  apply(patch: string): void;
  revert(patch: string): void;
  remove(): void;
};

export function createRepositoryCopy(): RepositoryCopy {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "gesso-plants-")));
  const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const files = execFileSync("git", listing, { cwd: REPOSITORY, maxBuffer: 64 * 1024 * 1024 });
  for (const file of files.toString().split("\0").filter(Boolean)) copyFile(file, path);
  linkDependencies(path);
  // The patches have no lines of context, so that changes beside them do not break them.
  const apply = (patch: string, ...options: string[]) =>
    execFileSync("git", ["apply", "--unidiff-zero", ...options, relative(REPOSITORY, patch)], { cwd: path });
  return {
    path,
    apply: (patch) => void apply(patch),
    revert: (patch) => void apply(patch, "--reverse"),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function copyFile(file: string, target: string): void {
  const source = join(REPOSITORY, file);
  // A file that was deleted and not committed is still listed.
  if (!lstatSync(source, { throwIfNoEntry: false })) return;
  mkdirSync(join(target, dirname(file)), { recursive: true });
  cpSync(source, join(target, file), { verbatimSymlinks: true });
}

function linkDependencies(copy: string): void {
  const installed = join(REPOSITORY, "node_modules");
  const link = (name: string) => {
    const real = realpathSync(join(installed, name));
    const isOwnPackage = !real.startsWith(installed) && real.startsWith(REPOSITORY);
    symlinkSync(isOwnPackage ? join(copy, relative(REPOSITORY, real)) : real, join(copy, "node_modules", name));
  };
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(installed)) {
    if (!name.startsWith("@")) {
      link(name);
      continue;
    }
    mkdirSync(join(copy, "node_modules", name));
    for (const scoped of readdirSync(join(installed, name))) link(`${name}/${scoped}`);
  }
}
