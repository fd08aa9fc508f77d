// Finds programs of the system that a drill needs. As root, it installs a missing one by its Debian package.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const SYSTEM_DIRECTORIES = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/** Returns the path of the program. */
export const findProgram = (name: string, debianPackage: string): string =>
  findOrInstall(name, debianPackage, () =>
    [...(process.env.PATH ?? "").split(":"), ...SYSTEM_DIRECTORIES]
      .map((directory) => join(directory, name))
      .find((path) => existsSync(path)),
  );

/** `locate` returns the path, or undefined if the program is not installed. */
export function findOrInstall(name: string, debianPackage: string, locate: () => string | undefined): string {
  const found = locate();
  if (found) return found;
  const install = `apt-get install -y --no-install-recommends ${debianPackage}`;
  if (process.getuid?.() !== 0) throw new Error(`${name} is missing. Run: sudo ${install}`);
  // At run level 1 a package does not start its service.
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("sh", ["-c", `${install} || { apt-get update && ${install}; }`], { env, stdio: "pipe" });
  const installed = locate();
  if (!installed) throw new Error(`${name} is not in the package ${debianPackage}`);
  return installed;
}
