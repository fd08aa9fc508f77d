// Runs each shared conformance test twice in the same environment: over HTTP and through the client. A test that makes
// no call through the client fails.
import { readFileSync } from "node:fs";
import { it as once, type TestAPI } from "vitest";

export type Transport = "http" | "client";

type Statement = { id: string; via: "both" | Transport };
const read = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const statements: Statement[] = read("checklist.json");
const { says: _, ...clientExceptions }: Record<string, string> = read("client-exceptions.json");
const shared = new Set(
  statements.filter(({ id, via }) => via === "both" && !(id in clientExceptions)).map(({ id }) => id),
);

let way: Transport = "http";
let spoken = 0;

/** The transport of the running test. */
export const currentTransport = (): Transport => way;
export const countClientCall = (times = 1): void => {
  spoken += times;
};
export const countedClientCalls = (): number => spoken;

type Work = (...given: any[]) => unknown;
type Given = (Work | object | number)[];

const isShared = (ids: string[]) => ids.some((id) => shared.has(id));
const idsIn = (name: string) => [...name.matchAll(/\[([A-Z]{3}-\d{3})\]/g)].map(([, id]) => id!);
const again = (name: string) => `${name} (client)`;

const byClient = (given: Given): Given =>
  given.map((each) => (typeof each === "function" ? (...row: unknown[]) => asClient(each as Work, row) : each));

async function asClient(work: Work, row: unknown[]): Promise<void> {
  way = "client";
  spoken = 0;
  try {
    await work(...row);
    if (spoken === 0) throw new Error("Nothing of this test went through the client");
  } finally {
    way = "http";
  }
}

const plain = once as unknown as (name: string, ...given: Given) => void;

/** Both ways, whatever the test is about. */
export function itOverHttpAndClient(name: string, ...given: Given): void {
  plain(name, ...given);
  plain(again(name), ...byClient(given));
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
    run(table, name, given);
    const idOf = (row: unknown) => (name.includes("[%s]") ? [String([row].flat()[0])] : idsIn(name));
    const rows = table.filter((row) => isShared(idOf(row)));
    if (rows.length > 0) run(rows, again(name), byClient(given));
  };

/** vitest's `it`, both ways. */
export const it = Object.assign(both, { each }) as unknown as TestAPI;
