// Builds the console of a checkout, so that `gesso dev` serves its present sources. A failed build is reported and does
// not stop Gesso. Outside of a checkout it does nothing.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CONSOLE_FOLDER = fileURLToPath(new URL("../../console", import.meta.url));

export async function buildConsole(log: (line: string) => void, folder = CONSOLE_FOLDER): Promise<void> {
  if (!isBuildOutdated(folder)) return;
  log("Building the console …");
  try {
    const vite = createRequire(join(folder, "package.json")).resolve("vite/package.json");
    const program = join(dirname(vite), "bin", "vite.js");
    await promisify(execFile)(process.execPath, [program, "build", "--logLevel", "error"], { cwd: folder });
  } catch (error) {
    log(`The console was not built: ${error instanceof Error ? error.message : error}`);
  }
}

/** Whether a checkout has no build, or one that is older than its sources. */
export function isBuildOutdated(folder: string): boolean {
  const sources = join(folder, "src");
  if (!existsSync(sources)) return false;
  const index = join(folder, "dist", "index.html");
  if (!existsSync(index)) return true;
  const builtAt = statSync(index).mtimeMs;
  return readdirSync(sources, { recursive: true, encoding: "utf8" }).some(
    (path) => statSync(join(sources, path)).mtimeMs > builtAt,
  );
}
