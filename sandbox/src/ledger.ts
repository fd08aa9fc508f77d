// The ledger of the sandbox on disk: one line per fact, appended before the response is sent, read at the start.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Behaviour } from "./behaviour.ts";
import type { FinalStatus, JobError } from "./job.ts";
import type { StoredRequest } from "./request.ts";
import type { TaskResult } from "./tasks/task.ts";

export type AcceptedEvent = {
  fact: "accepted";
  id: string;
  at: string;
  request: StoredRequest;
  behaviour: Behaviour;
  seed: number;
  idempotency_key: string | null;
};

export type JobEvent =
  | { fact: "posted_again"; id: string }
  | { fact: "answer_lost"; id: string }
  | { fact: "ended"; id: string; at: string; status: "succeeded"; error: null; findings: TaskResult }
  | { fact: "ended"; id: string; at: string; status: Exclude<FinalStatus, "canceled" | "succeeded">; error: JobError }
  | { fact: "canceled"; id: string; at: string }
  | { fact: "delivered"; id: string }
  | { fact: "callback"; id: string; taken: boolean; at: string };

type LedgerEvent = AcceptedEvent | JobEvent | { fact: "behaviour"; behaviour: Behaviour; input?: string };

export type Ledger = { events: LedgerEvent[]; write(fact: LedgerEvent): void; close(): void };

const parse = (line: string): LedgerEvent[] => {
  try {
    return [JSON.parse(line) as LedgerEvent];
  } catch {
    // Only the last line of a killed process can be incomplete, and its response was never sent.
    return [];
  }
};

export const openLedger = (dataDir: string): Ledger => {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, "ledger.jsonl");
  const written = existsSync(path) ? readFileSync(path, "utf8") : "";
  const file = openSync(path, "a");
  if (written && !written.endsWith("\n")) writeSync(file, "\n");
  return {
    events: written.split("\n").filter(Boolean).flatMap(parse),
    write: (fact) => {
      writeSync(file, `${JSON.stringify(fact)}\n`);
    },
    close: () => closeSync(file),
  };
};
