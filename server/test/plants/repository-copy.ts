// A copy of the repository's files, including uncommitted changes, in which a fault can be planted. The dependencies
// are links to the installed ones; the packages of the repository itself are those of the copy. It lies beside the
// repository, because hard links need the same file system.
import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "../../..");

export type RepositoryCopy = {
  path: string;
  /** Applies the copy of a patch of the repository. Returns a function that restores the files it changed. */
  apply(patch: string): () => void;
  remove(): void;
};

export function createRepositoryCopy(): RepositoryCopy {
  const path = realpathSync(mkdtempSync(join(dirname(REPOSITORY), "gesso-plants-")));
  const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const files = execFileSync("git", listing, { cwd: REPOSITORY, maxBuffer: 64 * 1024 * 1024 });
  for (const file of files.toString().split("\0").filter(Boolean)) copyFile(file, path);
  linkDependencies(path);
  return {
    path,
    apply(patch) {
      const changed = [...readFileSync(patch, "utf8").matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file]) =>
        join(path, file!),
      );
      const originals = changed.map((file) => ({ file, text: readFileSync(file, "utf8") }));
      // The patches have no lines of context, so that changes beside them do not break them. Without context, a
      // reversed patch would insert at the line it names, which may be another one by now.
      execFileSync("git", ["apply", "--unidiff-zero", relative(REPOSITORY, patch)], { cwd: path });
      return () => {
        for (const { file, text } of originals) writeFileSync(file, text);
      };
    },
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

/**
 * Hard links, not symbolic ones: the isolation of decoder processes permits what is below the repository. Links to the
 * packages of the repository are relative, so in the copy they lead to those of the copy.
 */
function linkDependencies(copy: string): void {
  execFileSync("cp", ["-al", join(REPOSITORY, "node_modules"), join(copy, "node_modules")]);
}
