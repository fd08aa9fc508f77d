// Runs each shared conformance test twice in the same environment: over HTTP and through the client. There a test fails
// unless the operation of each of its statements was called through the client.
import { readFileSync } from "node:fs";
import { it as once, type TestAPI } from "vitest";
import { withRecording, withReplay } from "./exchanges.ts";

export type Transport = "http" | "client";

type Statement = { id: string; operation: string | null; via: "both" | Transport };
const read = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const statements: Statement[] = read("checklist.json");
const { says: _, ...clientExceptions }: Record<string, string> = read("client-exceptions.json");
const shared = new Map(
  statements
    .filter(({ id, via }) => via === "both" && !(id in clientExceptions))
    .map(({ id, operation }) => [id, operation]),
);

/** Their tests compare a response with what other tests have made meanwhile, so a recorded one does not fit. */
const LIVE_STATEMENTS = ["RUN-027"];

/** Operations with which tests look at the result of another request, or end its run. */
const SUPPORTING_OPERATIONS = ["runs.get", "runs.list", "runs.cancel"];

let way: Transport = "http";
let clientCalls: string[] = [];

/** The transport of the running test. */
export const currentTransport = (): Transport => way;
/** `operations`: the names of operations that were called through the client. */
export const recordClientCalls = (operations: string[]): void => {
  clientCalls.push(...operations);
};
/** The names of the operations that the running test has called through the client. */
export const listClientCalls = (): string[] => clientCalls;

type Work = (...given: any[]) => unknown;
type Given = (Work | object | number)[];

const isShared = (ids: string[]) => ids.some((id) => shared.has(id));
const idsIn = (name: string) => [...name.matchAll(/\[([A-Z]{3}-\d{3})\]/g)].map(([, id]) => id!);
const again = (name: string) => `${name} (client)`;

/** A test without a table gets only the context of Vitest. */
const isContext = (value: unknown) => typeof value === "object" && value !== null && "task" in value;
const describeCell = (cell: unknown) => (typeof cell === "function" ? String(cell) : JSON.stringify(cell));
/** The title of a test with the row of its table. */
const titleOf = (name: string, row: unknown[]) =>
  [name, ...row.filter((cell) => !isContext(cell)).map(describeCell)].join(" ");

type RunTest = (work: Work, row: unknown[]) => unknown;
const wrapWork = (given: Given, run: RunTest): Given =>
  given.map((each) => (typeof each === "function" ? (...row: unknown[]) => run(each as Work, row) : each));

const byHttp = (name: string, given: Given): Given =>
  wrapWork(given, (work, row) => withRecording(titleOf(name, row), () => work(...row)));

type IdsOf = (row: unknown) => string[];
const byClient = (name: string, given: Given, idsOf: IdsOf): Given =>
  wrapWork(given, (work, row) => {
    const ids = idsOf(row);
    const operations = ids.flatMap((id) => shared.get(id) ?? []);
    if (ids.some((id) => LIVE_STATEMENTS.includes(id))) return asClient(work, row, ids);
    return withReplay(titleOf(name, row), operations, () => asClient(work, row, ids));
  });

async function asClient(work: Work, row: unknown[], ids: string[]): Promise<void> {
  way = "client";
  clientCalls = [];
  try {
    await work(...row);
    if (clientCalls.length === 0) throw new Error("Nothing of this test went through the client");
    const missing = ids.filter((id) => shared.has(id) && !clientCalls.some((call) => isUnderTest(id, call)));
    const calls = [...new Set(clientCalls)].join(", ");
    if (missing.length > 0) throw new Error(`The request of ${missing} did not go through the client, only ${calls}`);
  } finally {
    way = "http";
  }
}

/** Whether a call is of the operation that the statement is about; one about several operations names none. */
function isUnderTest(id: string, call: string): boolean {
  const operation = shared.get(id);
  return operation ? call === operation : !SUPPORTING_OPERATIONS.includes(call);
}

const plain = once as unknown as (name: string, ...given: Given) => void;

/** Both ways, whatever the test is about. */
export function itOverHttpAndClient(name: string, ...given: Given): void {
  plain(name, ...byHttp(name, given));
  plain(again(name), ...byClient(name, given, () => idsIn(name)));
}

function both(name: string, ...given: Given): void {
  if (isShared(idsIn(name))) itOverHttpAndClient(name, ...given);
  else plain(name, ...given);
}

const each =
  (table: unknown[]) =>
  (name: string, ...given: Given): void => {
    const run = (rows: unknown[], own: string, work: Given) =>
      (once.each(rows) as unknown as typeof plain)(own, ...work);
    run(table, name, byHttp(name, given));
    const idOf = (row: unknown) => (name.includes("[%s]") ? [String([row].flat()[0])] : idsIn(name));
    const rows = table.filter((row) => isShared(idOf(row)));
    if (rows.length > 0) run(rows, again(name), byClient(name, given, idOf));
  };

/** vitest's `it`, both ways. */
export const it = Object.assign(both, { each }) as unknown as TestAPI;
