// Images on the command line: a file, a URL, the ID of a run, or - for the ID of a run from standard input.
import { statSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import { commandError } from "./exit-codes.ts";

export type ImageArgument =
  | { kind: "run"; runId: string; outputIndex?: number }
  | { kind: "url"; url: string }
  | { kind: "file"; path: string };

const RUN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:#(\d+))?$/i;

export async function parseImageArgument(text: string): Promise<ImageArgument> {
  if (text === "-") return { kind: "run", runId: await readRunIdFromStdin() };
  const [, runId, index] = RUN.exec(text) ?? [];
  if (runId) return { kind: "run", runId, ...(index !== undefined && { outputIndex: Number(index) }) };
  if (/^(https?:\/\/|data:)/i.test(text)) return { kind: "url", url: text };
  const path = text.replace(/^@/, "");
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return { kind: "file", path };
  throw commandError(
    "usage",
    `There is no file ${path}. Pass a file, a URL, a run ID, or - for a run ID from standard input.`,
  );
}

/** A run ID as an argument, or - for standard input. */
export async function parseRunArgument(text: string): Promise<string> {
  return text === "-" ? readRunIdFromStdin() : text;
}

let isStdinRead = false;

/** What `gesso … -q` prints, or the JSON of a run. */
async function readRunIdFromStdin(): Promise<string> {
  if (isStdinRead) throw commandError("usage", "Standard input has one run ID. Use - once.");
  isStdinRead = true;
  const text = (await readText(process.stdin)).trim();
  const runId = RUN.exec(text.split(/\s/)[0] ?? "")?.[1] ?? findRunId(text);
  if (runId) return runId;
  throw commandError("usage", "Standard input has no run ID. Pipe the output of another gesso command to it.");
}

function findRunId(text: string): string | undefined {
  try {
    const value = JSON.parse(text) as { run_id?: unknown } | null;
    return typeof value?.run_id === "string" ? value.run_id : undefined;
  } catch {
    return undefined;
  }
}
