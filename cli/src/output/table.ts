// Lists and single objects as text for people.
import { formatAmount, paint, toHarmlessText } from "./terminal.ts";

type Row = Record<string, unknown>;

const MAX_CELL = 60;
const MAX_COLUMNS = 7;
/** The width from which a cut cell still tells something: more than a time, which is whole or left out. */
const MIN_CUT_CELL = 17;

/** A time without seconds; other texts stay as they are. */
const toMinute = (text: string): string =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? text.replace("T", " ").slice(0, 16) : text;

/** One value as text: a cost as an amount, an object as JSON. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return toHarmlessText(toMinute(String(value)));
  const { amount, currency } = value as { amount?: unknown; currency?: unknown };
  if (typeof amount === "number" && currency === "USD") return formatAmount(amount);
  return toHarmlessText(
    Array.isArray(value) && value.every((each) => typeof each !== "object") ? value.join(", ") : JSON.stringify(value),
  );
}

const shorten = (text: string) => (text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text);

/** Columns that have a value in some row, and are not objects. */
const columnsOf = (rows: Row[]) =>
  [...new Set(rows.flatMap((row) => Object.keys(row)))]
    .filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined && row[name] !== ""))
    .filter((name) => rows.every((row) => typeof row[name] !== "object" || row[name] === null || name === "cost"))
    .slice(0, MAX_COLUMNS);

const GAP = "  ";

export function renderTable(rows: Row[], columns = columnsOf(rows), terminalWidth = process.stdout.columns): string[] {
  if (rows.length === 0) return ["No entries."];
  const cells = rows.map((row) => columns.map((name) => shorten(formatCell(row[name]))));
  const widths = columns.map((name, index) => Math.max(name.length, ...cells.map((each) => each[index]!.length)));
  const width = terminalWidth || Number.POSITIVE_INFINITY;
  const shown = countFittingColumns(widths, width);
  const toLine = (values: string[]) => {
    const padded = values.slice(0, shown).map((value, index) => value.padEnd(widths[index]!));
    const line = padded.join(GAP).trimEnd();
    return line.length > width ? `${line.slice(0, width - 1)}…` : line;
  };
  return [paint("dim", toLine(columns), process.stdout), ...cells.map(toLine)];
}

/**
 * Lines that are longer than the terminal is wide would wrap, so the last column is cut. A column of which too little
 * would remain is left out with those after it: half a time tells nothing.
 */
function countFittingColumns(widths: number[], terminalWidth: number): number {
  let start = 0;
  for (const [index, width] of widths.entries()) {
    const room = terminalWidth - start;
    if (width > room && index > 0) return room < MIN_CUT_CELL ? index : index + 1;
    start += width + GAP.length;
  }
  return widths.length;
}

/** The parts of an object get lines of their own: `tenant.name`. */
export function renderObject(object: Row): string[] {
  const entries = flatten(object, "")
    .map(([name, value]) => [name, formatCell(value)] as const)
    .filter(([, text]) => text !== "");
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, text]) => `${paint("dim", name.padEnd(width), process.stdout)}  ${text}`);
}

function flatten(object: Row, prefix: string): [string, unknown][] {
  return Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    const isGroup = typeof value === "object" && value !== null && !Array.isArray(value) && name !== "cost";
    return isGroup ? flatten(value as Row, `${prefix}${name}.`) : [[`${prefix}${name}`, value]];
  });
}
