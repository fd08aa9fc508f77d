// Checks a built package with publint, without the dependencies that it contains: their files are as their authors
// published them, and many have modules that only bundlers read.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** Warnings and errors, each as one line. None: the package is as it should be. */
export async function lintPackage(folder: string): Promise<string[]> {
  const paths = globSync("**/*", { cwd: folder, exclude: ["node_modules"], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map((name) => ({ name, data: readFileSync(name) }));
  const { messages, pkg } = await publint({ pkgDir: folder, level: "warning", strict: true, pack: { files } });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}
