// Prints the response of an operation that creates no run: JSON for programs, IDs with --quiet, text for people.
import type { Run } from "@gesso/client";
import { renderCatalogue } from "./render-catalogue.ts";
import { renderCost } from "./render-cost.ts";
import { renderExplanation } from "./render-explanation.ts";
import { renderProvenanceReport, renderRunProvenance } from "./render-provenance.ts";
import { renderReconciliation } from "./render-reconciliation.ts";
import { promptOf, renderRun, toRunRow } from "./render-run.ts";
import { renderTree } from "./render-tree.ts";
import { renderObject, renderTable } from "./table.ts";
import { type OutputMode, toHarmlessText, toJsonLine, writeData, writeNote } from "./terminal.ts";

type Response = Record<string, unknown>;
type Page = { data: Response[]; next_cursor?: string | null };

const MAX_PROMPT = 24;

/** A row of `gesso runs list` for programs: 20 of them fit into 4 kB. */
const briefRun = (run: Run) => ({
  ...{ run_id: run.run_id, status: run.status, run_type: run.run_type },
  ...(run.cost && { cost: run.cost.amount }),
  created_at: run.created_at.replace(/\.\d+/, ""),
  ...(promptOf(run) !== "" && { prompt: promptOf(run).slice(0, MAX_PROMPT) }),
});

const BRIEF_ROWS: Record<string, (row: never) => Response> = { "runs.list": briefRun };

const KEY_COLUMNS = ["id", "hint", "last_used_at", "revoked_at", "expires_at", "name", "user_id"];
const AUDIT_COLUMNS = ["entry", "at", "action", "subject", "user_id", "key_id"];
const WORKER_COLUMNS = ["worker_id", "host", "version", "state", "runs", "started_at"];

const TEXT: Record<string, (response: never) => string[]> = {
  "runs.list": ({ data }: { data: Run[] }) => renderTable(data.map(toRunRow)),
  "runs.get": renderRun,
  "runs.cancel": renderRun,
  "runs.delete": renderRun,
  "runs.update": renderRun,
  "runs.tree": renderTree,
  "usage.get": renderCost,
  "catalogue.get": renderCatalogue,
  "admin.explain": renderExplanation,
  "admin.reconcile": renderReconciliation,
  "keys.list": ({ data }: { data: Response[] }) => renderTable(data, withValues(data, KEY_COLUMNS)),
  "audit.list": ({ data }: { data: Response[] }) => renderTable(data, withValues(data, AUDIT_COLUMNS)),
  "admin.workers": ({ data }: { data: Response[] }) => renderTable(data, WORKER_COLUMNS),
  "provenance.verify": renderProvenanceReport,
  "runs.provenance": renderRunProvenance,
};

/** The columns that have a value in some row. */
const withValues = (rows: Response[], columns: string[]): string[] =>
  columns.filter((name) => rows.some((row) => row[name] !== null && row[name] !== undefined));

/** A page of a list, or a list that has all its items in one response. */
const isPage = (response: Response): boolean =>
  Array.isArray(response.data) && ("next_cursor" in response || Object.keys(response).length === 1);
const isKeyOf = (name: string) => /^(run_id|id|key_id|user_id|model_id|delivery_id|webhook_id|worker_id)$/.test(name);
const idOf = (response: Response) => String(response[Object.keys(response).find(isKeyOf) ?? ""] ?? "");

export function printResponse(operation: string, response: Response, mode: OutputMode): void {
  const page = isPage(response) ? (response as unknown as Page) : undefined;
  if (mode === "quiet") {
    const ids = page ? page.data.map(idOf) : [idOf(response)];
    for (const id of ids.filter(Boolean)) writeData(toHarmlessText(id));
    return;
  }
  const brief = mode === "brief" ? BRIEF_ROWS[operation] : undefined;
  if (mode !== "text") {
    writeData(toJsonLine(page && brief ? { ...page, data: page.data.map(brief as never) } : response));
    return;
  }
  const lines = TEXT[operation]?.(response as never) ?? (page ? renderTable(page.data) : renderObject(response));
  for (const line of lines) writeData(line);
  if (page?.next_cursor) writeNote(`More: add --cursor ${page.next_cursor}`);
}
