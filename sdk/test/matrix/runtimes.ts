// The runtimes that the client supports, by the exact version of their npm packages. They are installed together beside
// the sources and cached there, so that only the first run downloads them.
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const FOLDER = join(import.meta.dirname, "../../.gesso/runtimes");
const NODE = `npm:node-${process.platform}-${process.arch}`;

/**
 * By the name under which they are installed. Node has a package for each kind of machine, the others choose by
 * themselves.
 */
const PACKAGES = {
  node20: `${NODE}@20.20.2`,
  node22: `${NODE}@22.23.3`,
  node24: `${NODE}@24.21.0`,
  bun: "1.4.4",
  deno: "2.9.6",
  workerd: "1.20261104.1",
  typedoc: "0.28.20",
  typescript: "5.9.3",
};

const PROGRAMS = {
  node20: "node20/bin/node",
  node22: "node22/bin/node",
  node24: "node24/bin/node",
  bun: "@oven/bun-*/bin/bun",
  deno: "@deno/*/deno",
  workerd: "@cloudflare/workerd-*/bin/workerd",
  typedoc: "typedoc/bin/typedoc",
  tsc: "typescript/bin/tsc",
};

export type Program = keyof typeof PROGRAMS;
/** The result of a suite, with the messages of its failures. */
export type SuiteResult = { passed: number; failed: string[] };

export async function installRuntimes(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ private: true, dependencies: PACKAGES }));
  const parameters = [
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--no-package-lock",
  ];
  await promisify(execFile)("npm", parameters, { cwd: FOLDER, timeout: 300_000 });
}

/** The path of a program. Of packages for several platforms only the one of this platform is installed. */
export function programPath(program: Program): string {
  const found = globSync(join(FOLDER, "node_modules", PROGRAMS[program])).filter((path) => existsSync(path));
  if (!found[0]) throw new Error(`${program} was not installed`);
  return found[0];
}
