// Prints events as they arrive, one per line. A lost connection is reopened after the last event, so each event is
// printed once.
import type { Event, EventStream } from "@gesso/client";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatAmount, type OutputMode, paint, toHarmlessText, toJsonLine, writeData } from "../output/terminal.ts";

type EventData = {
  run_id?: string;
  progress?: number;
  outputs?: unknown[];
  created_at?: string;
  cost?: { amount: number } | null;
  error?: { message: string } | null;
};

/** Ends with the stream. The exit code is 1 if the last event is a failed or canceled run. */
export async function printEvents(events: EventStream<Event>, mode: OutputMode): Promise<number> {
  let last = "";
  for await (const event of events) {
    last = event.type;
    if (mode === "quiet") continue;
    writeData(mode === "text" ? describeEvent(event) : toJsonLine(event));
  }
  return /^run\.(failed|canceled)$/.test(last) ? EXIT_CODES.failed : EXIT_CODES.ok;
}

function describeEvent({ type, timestamp, data }: Event): string {
  const { run_id = "", progress, cost, error, outputs = [], created_at } = data as EventData;
  const time = String(timestamp ?? "").slice(11, 19);
  const share = type === "run.progress" && progress !== undefined ? `${Math.round(progress * 100)} %` : "";
  const files = outputs.length === 1 ? "1 file" : `${outputs.length} files`;
  const seconds = (Date.parse(String(timestamp)) - Date.parse(created_at ?? "")) / 1000;
  const result = type === "run.completed" && created_at ? `${files} after ${seconds.toFixed(1)} s` : "";
  const details = [share, result, cost ? formatAmount(cost.amount) : "", toHarmlessText(error?.message ?? "")].filter(
    Boolean,
  );
  return [paint("dim", time, process.stdout), type.padEnd(14), run_id, ...details].join("  ");
}
