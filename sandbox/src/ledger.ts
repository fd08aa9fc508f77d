// The vendor's own book on disk: one line per fact, appended before anything is answered, read again at the start.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Behaviour } from "./behaviour.ts";
import type { Ending, JobError } from "./job.ts";
import type { KeptRequest } from "./request.ts";
import type { Findings } from "./tasks/task.ts";

export type Acceptance = {
  fact: "accepted";
  id: string;
  at: string;
  request: KeptRequest;
  behaviour: Behaviour;
  seed: number;
  idempotency_key: string | null;
};

export type JobFact =
  | { fact: "posted_again"; id: string }
  | { fact: "answer_lost"; id: string }
  | { fact: "ended"; id: string; at: string; status: "succeeded"; error: null; findings: Findings }
  | { fact: "ended"; id: string; at: string; status: Exclude<Ending, "canceled" | "succeeded">; error: JobError }
  | { fact: "canceled"; id: string; at: string }
  | { fact: "delivered"; id: string }
  | { fact: "callback"; id: string; taken: boolean };

type Fact = Acceptance | JobFact | { fact: "behaviour"; behaviour: Behaviour };

export type Ledger = { facts: Fact[]; write(fact: Fact): void; close(): void };

const parse = (line: string): Fact[] => {
  try {
    return [JSON.parse(line) as Fact];
  } catch {
    // Only the last line of a killed process can be half a line, and it was never answered for.
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
    facts: written.split("\n").filter(Boolean).flatMap(parse),
    write: (fact) => {
      writeSync(file, `${JSON.stringify(fact)}\n`);
    },
    close: () => closeSync(file),
  };
};
