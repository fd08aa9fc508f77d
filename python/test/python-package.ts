// Builds the wheel of the Python client, installs it into a folder of its own, and runs Python with it.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPythonEnvironment } from "../../server/test/support/python.ts";

export const PYTHON_CLIENT = join(import.meta.dirname, "..");
const execute = promisify(execFile);
/** Longer than anything takes; a program that hangs says where. */
const HANGING_MS = 600_000;

/** Python with the sources of the client, for tests that are not about the package. */
export type PythonSources = Pick<PythonPackage, "interpreter" | "folder" | "run">;

export type PythonPackage = {
  /** The interpreter, with all packages of requirements.txt. */
  interpreter: string;
  wheel: string;
  /** The folder that contains the installed package. */
  folder: string;
  run(parameters: string[], env?: Record<string, string>): Promise<string>;
  remove(): void;
};

export async function openPythonSources(folder = join(PYTHON_CLIENT, "src")): Promise<PythonSources> {
  const interpreter = await createPythonEnvironment(join(import.meta.dirname, "requirements.txt"));
  const run = async (parameters: string[], env: Record<string, string> = {}) => {
    const options = { cwd: PYTHON_CLIENT, timeout: HANGING_MS, maxBuffer: 64 * 1024 * 1024 };
    const own = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1", ...env };
    const started = execute(interpreter, parameters, { ...options, env: { ...process.env, ...own } });
    const { stdout } = await started.catch((error: { stdout?: string; stderr?: string; message: string }) => {
      throw new Error(`${error.stdout ?? ""}\n${error.stderr ?? error.message}`);
    });
    return stdout;
  };
  return { interpreter, folder, run };
}

export async function installPythonPackage(): Promise<PythonPackage> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-python-"));
  const { interpreter, run } = await openPythonSources(folder);
  await run(["-m", "hatchling", "build", "--target", "wheel", "--directory", folder]);
  const wheel = join(folder, readdirSync(folder).find((name) => name.endsWith(".whl"))!);
  await run(["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--no-index", "--target", folder, wheel]);
  return { interpreter, wheel, folder, run, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
