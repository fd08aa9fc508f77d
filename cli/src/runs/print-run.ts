// Prints a run: its ID, its JSON, or its files and links. Results go to standard output, everything else to standard
// error.
import type { Run } from "@gesso/client";
import { EXIT_CODES } from "../exit-codes.ts";
import { openTarget } from "../open-target.ts";
import type { CliOperation } from "../operations.ts";
import {
  formatAmount,
  type OutputMode,
  paint,
  toHarmlessLines,
  toHarmlessText,
  toJsonLine,
  writeData,
  writeNote,
} from "../output/terminal.ts";
import type { RunFlags } from "../run-flags.ts";
import { showPreview, toLink } from "./preview.ts";
import { extensionOf, resultOutputs, saveOutputs, targetPaths } from "./save-outputs.ts";

/** A run that the command does not wait for. */
export const printOpenRun = (run: Pick<Run, "run_id" | "status">, mode: OutputMode): void =>
  writeData(mode === "json" || mode === "brief" ? toJsonLine(run) : run.run_id);

type EndedRun = { flags: RunFlags; command: string; operation?: CliOperation; mode: OutputMode };

/** Returns the exit code. */
export async function printEndedRun(run: Run, ended: EndedRun): Promise<number> {
  const { flags, command, mode } = ended;
  for (const warning of run.warnings) writeNote(`${paint("yellow", "Warning:")} ${toHarmlessText(warning)}`);
  if (run.status !== "completed") {
    printData(run, mode);
    writeNote(`${command}: ${describeFailure(run)}`);
    return EXIT_CODES.failed;
  }
  const text = resultText(run, ended);
  const files = flags.output === undefined ? [] : await saveOutputs(run, flags, `${text}\n`);
  if (mode === "text" || flags.preview === "auto") await preview(run, flags.preview);
  if (flags.output !== "-") printData(run, mode, { files, text });
  if (mode === "text") writeNote(paint("dim", summarize(run)));
  const [first] = resultOutputs(run);
  if (flags.open && first) openTarget(files[0] ?? first.url);
  return EXIT_CODES.ok;
}

function describeFailure({ run_id, status, error }: Run): string {
  if (status === "canceled") return `The run ${run_id} was canceled.`;
  const reason = error ? `: ${error.message} (code: ${error.code})` : ".";
  return toHarmlessText(`The run ${run_id} failed${reason}`);
}

type PrintedResult = { files: string[]; text: string };

function printData(run: Run, mode: OutputMode, { files, text }: PrintedResult = { files: [], text: "" }): void {
  if (mode === "quiet") writeData(run.run_id);
  else if (mode !== "text") writeData(toJsonLine({ ...run, ...(files.length > 0 && { files }) }));
  else if (files.length > 0) for (const file of files) writeData(file);
  else if (text) writeData(text);
  else printLinks(run);
}

function printLinks(run: Run): void {
  const outputs = resultOutputs(run);
  const names = targetPaths("%id", run, outputs.map(extensionOf));
  for (const [index, { url, width, height, media_type }] of outputs.entries())
    writeData(toLink(`${names[index]} (${width && height ? `${width} × ${height}` : media_type})`, url));
}

/** The most important part of a result that is not a file, or a result of any form without files. */
function resultText({ result, outputs }: Run, { operation }: EndedRun): string {
  if (!result) return "";
  if (operation?.name === MODEL_RUN) return outputs.length > 0 ? "" : toHarmlessLines(JSON.stringify(result, null, 2));
  if (resultIsOfFiles(operation)) return "";
  const [main] = operation?.resultFields ?? [];
  const value = main === undefined ? result : result[main];
  return toHarmlessLines(typeof value === "string" ? value : toJsonLine(value ?? result));
}

/** The model decides what its result is. */
const MODEL_RUN = "runs.create";
const resultIsOfFiles = (operation: EndedRun["operation"]) => operation !== undefined && !operation.resultFields;

async function preview(run: Run, when: "auto" | "off" | undefined): Promise<void> {
  if (when === "off") return;
  for (const output of resultOutputs(run)) if (output.media_type.startsWith("image/")) await showPreview(output);
}

function summarize({ run_id, started_at, created_at, finished_at, cost, model, provider }: Run): string {
  const ms = Date.parse(finished_at ?? created_at) - Date.parse(started_at ?? created_at);
  const parts = [
    `Run ${run_id} completed in ${(ms / 1000).toFixed(1)} s`,
    ...(cost ? [formatAmount(cost.amount)] : []),
    ...(model ? [`${model}${provider ? ` at ${provider}` : ""}`] : []),
  ];
  return parts.join(", ");
}
