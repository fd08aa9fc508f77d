// Renders a response as CSV. Cells that a spreadsheet would interpret as a formula are escaped.
import type { Context } from "hono";
import type { JsonObject } from "../contract/schemas/run.ts";

export const acceptsCsv = (context: Context) => /^text\/csv\b/.test(context.req.header("accept") ?? "");

export function respondWithCsv(context: Context, rows: JsonObject[]): Response {
  context.header("vary", "Accept", { append: true });
  return context.body(renderCsv(rows), 200, { "content-type": "text/csv; charset=utf-8; header=present" });
}

/** The columns are the keys of the first row; all rows have the same keys. */
export function renderCsv(rows: JsonObject[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((cells) => `${cells.map(renderCsvCell).join(",")}\r\n`).join("");
}

function renderCsvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value).replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
