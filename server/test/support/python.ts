// Runs Python programs with the packages of python-requirements.txt, for tests with clients that exist only in Python.
// The packages of a requirements file are installed once from PyPI, into a virtual environment in node_modules/.cache.
// Test files that need them at the same time share one installation, which is one of the shared services.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { SHARED_POSTGRES_VARIABLE } from "./shared-postgres.ts";

const REQUIREMENTS = join(import.meta.dirname, "python-requirements.txt");
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache");

const execute = promisify(execFile);

/** Returns the Python interpreter of the virtual environment. */
export async function installPython(): Promise<string> {
  const shared = process.env[SHARED_POSTGRES_VARIABLE];
  if (!shared) return createPythonEnvironment();
  const response = await fetch(`${shared}/python`);
  const interpreter = await response.text();
  if (!response.ok) throw new Error(`the Python packages: ${interpreter}`);
  return interpreter;
}

/** Returns the Python interpreter. Two test runs of one clone may install at the same time. */
export async function createPythonEnvironment(requirements = REQUIREMENTS): Promise<string> {
  const version = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const directory = join(CACHE, `python-${version}`);
  const interpreter = join(directory, "bin/python");
  if (existsSync(interpreter)) return interpreter;
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}-`);
  try {
    await execute("python3", ["-m", "venv", unfinished]);
    const pip = [
      ...["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"],
      ...["--requirement", requirements],
    ];
    await execute(join(unfinished, "bin/python"), pip);
    renameSync(unfinished, directory);
  } catch (thrown) {
    rmSync(unfinished, { recursive: true, force: true });
    // The other run was faster.
    if (!existsSync(interpreter)) throw thrown;
  }
  return interpreter;
}

/** Runs a program and returns what it prints as JSON on its last line. */
export async function runPython(
  program: string,
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<unknown> {
  const interpreter = await installPython();
  const { stdout } = await execute(interpreter, ["-c", program], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
