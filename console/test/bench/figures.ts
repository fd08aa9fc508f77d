// Figures of a benchmark: how to take them, the table that compares them with the bounds of the acceptance criteria and
// with the last ones, and the file that keeps them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = ".campaigns/figures";
const PREFIX = "console-";
const REPEATS = 3;

/** Milliseconds, and the most that the criterion allows. */
export type Figure = { criterion: string; name: string; milliseconds: number; bound: number };

export async function millisecondsOf(action: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await action();
  return performance.now() - startedAt;
}

/** The best of three: other programs on the machine only make it slower. */
export async function bestOf(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) times.push(await measure());
  return Math.min(...times);
}

export const percentileOf = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

/** The newest figure of each name, because a run can take some of them only. */
function readLast(): Map<string, Figure> {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith(PREFIX));
  const figures = names.sort().flatMap((name): Figure[] => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));
  return new Map(figures.map((figure) => [figure.name, figure]));
}

/** Prints the figures beside their bounds and the last ones, and keeps them. */
export function reportFigures(figures: readonly Figure[]): void {
  mkdirSync(FOLDER, { recursive: true });
  const last = readLast();
  for (const { criterion, name, milliseconds, bound } of figures) {
    const before = last.get(name);
    const change = before ? `, last ${before.milliseconds.toFixed(0)} ms` : "";
    const verdict = milliseconds <= bound ? "" : "  OVER THE BOUND";
    const value = `${milliseconds.toFixed(0)} ms`.padStart(9);
    console.log(`${criterion}  ${name.padEnd(60)} ${value} of ${bound} ms${change}${verdict}`);
  }
  const file = join(FOLDER, `${PREFIX}${new Date().toISOString().replaceAll(":", "-")}.json`);
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
  console.log(`written to ${file}`);
}
