// Writes the files of a run: all of them whole, or none. A file is downloaded to a temporary name beside its target,
// compared with its hash, and then moved. An existing file is only replaced with --force.
import { randomUUID } from "node:crypto";
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import type { Output, Run } from "@gesso/client";
import { commandError } from "../exit-codes.ts";
import { downloadOutput } from "./download-output.ts";

export type SaveFlags = { output?: string; force?: boolean };

const STDOUT = "-";

/** Checks what can be known before the run, so that nothing is paid for a result that cannot be written. */
export function checkOutputTargets({ output, force }: SaveFlags): void {
  if (output === undefined) return;
  if (output === STDOUT && process.stdout.isTTY) {
    throw commandError("usage", "--output - writes the file to standard output. Redirect it to a file or a program.");
  }
  const isPattern = output.includes("%") || isDirectory(output);
  if (!isPattern && !force && existsSync(output)) throw existsError(output);
}

const existsError = (path: string) => commandError("usage", `${path} exists. Use --force to overwrite it.`);
const isDirectory = (path: string) =>
  path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export const resultOutputs = ({ outputs }: Run): Output[] => {
  const results = outputs.filter(({ role }) => role === "result");
  return results.length > 0 ? results : outputs;
};

/** The URL of a file ends with the extension of its format. */
export const extensionOf = ({ url }: Pick<Output, "url">): string => extname(new URL(url).pathname) || ".bin";

/** `out/%id.png` with two files: `out/<run>.png` and `out/<run>-2.png`. `extensions` are those of the files. */
export function targetPaths(pattern: string, run: Pick<Run, "run_id">, extensions: string[]): string[] {
  const whole = isDirectory(pattern) ? join(pattern, "%id") : pattern;
  return extensions.map((own, index) => {
    const extension = extname(whole);
    const stem = extension ? whole.slice(0, -extension.length) : whole;
    const number = whole.includes("%n") || index === 0 ? "" : `-${index + 1}`;
    const path = `${stem}${number}${extension || own}`;
    return path.replaceAll("%id", run.run_id).replaceAll("%n", String(index + 1));
  });
}

/** Returns the paths of the files; none for standard output. `text` is the result of a run without files. */
export async function saveOutputs(run: Run, flags: SaveFlags, text = ""): Promise<string[]> {
  const outputs = resultOutputs(run);
  const files =
    outputs.length > 0 ? outputs.map((each) => () => downloadOutput(each)) : [async () => Buffer.from(text)];
  if (flags.output === STDOUT) {
    if (files.length > 1)
      throw commandError("usage", `The run has ${files.length} files. Write them with -o %id-%n.png.`);
    process.stdout.write(await files[0]!());
    return [];
  }
  const extensions = outputs.length > 0 ? outputs.map(extensionOf) : [/^\{\s*"/.test(text) ? ".json" : ".txt"];
  const paths = targetPaths(flags.output ?? "%id", run, extensions);
  const taken = flags.force ? undefined : paths.find((path) => existsSync(path));
  if (taken) throw existsError(taken);
  await writeAll(paths, files, flags.force === true);
  return paths;
}

async function writeAll(paths: string[], files: (() => Promise<Buffer>)[], isForced: boolean): Promise<void> {
  const temporary = paths.map((path) => join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`));
  const moved: string[] = [];
  try {
    for (const [index, read] of files.entries()) {
      mkdirSync(dirname(paths[index]!), { recursive: true });
      writeFileSync(temporary[index]!, await read());
    }
    for (const [index, path] of paths.entries()) {
      if (isForced) renameSync(temporary[index]!, path);
      else moveWithoutReplacing(temporary[index]!, path);
      moved.push(path);
    }
  } catch (thrown) {
    if (!isForced) for (const path of moved) rmSync(path, { force: true });
    throw toCommandError(thrown as NodeJS.ErrnoException);
  } finally {
    for (const path of temporary) rmSync(path, { force: true });
  }
}

/** A hard link fails if the target exists. File systems without links get a check before the move. */
function moveWithoutReplacing(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST" || existsSync(to)) throw existsError(to);
    renameSync(from, to);
  }
}

const toCommandError = (thrown: NodeJS.ErrnoException): Error =>
  thrown.syscall ? commandError("failed", `Cannot write the file: ${thrown.message}.`) : thrown;
