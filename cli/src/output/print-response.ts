// Prints the response of an operation that creates no run: JSON for programs, IDs with --quiet, text for people.
import type { Run, RunTree, UsageReport } from "@gesso/client";
import { renderCost } from "./render-cost.ts";
import { renderTree } from "./render-tree.ts";
import { renderObject, renderTable } from "./table.ts";
import { type OutputMode, toHarmlessText, toJsonLine, writeData, writeNote } from "./terminal.ts";

type Response = Record<string, unknown>;
type Page = { data: Response[]; next_cursor?: string | null };

const MAX_PROMPT = 24;

/** A row of `gesso runs list` for programs: 20 of them fit into 4 kB. */
const briefRun = ({ run_id, status, run_type, cost, created_at, inputs }: Run) => ({
  ...{ run_id, status, run_type },
  ...(cost && { cost: cost.amount }),
  created_at: created_at.replace(/\.\d+/, ""),
  ...(typeof inputs?.prompt === "string" && { prompt: inputs.prompt.slice(0, MAX_PROMPT) }),
});

const BRIEF_ROWS: Record<string, (row: never) => Response> = { "runs.list": briefRun };

/** What people see of a run in a list. */
const runRow = (run: Run): Response => ({
  run_id: run.run_id,
  status: run.status,
  type: run.run_type,
  cost: run.cost,
  created: run.created_at.replace("T", " ").slice(0, 16),
  prompt: typeof run.inputs?.prompt === "string" ? run.inputs.prompt.slice(0, 40) : "",
});

const TEXT: Record<string, (response: never) => string[]> = {
  "runs.list": ({ data }: { data: Run[] }) => renderTable(data.map(runRow)),
  "runs.tree": (tree: RunTree) => renderTree(tree),
  "usage.get": (report: UsageReport) => renderCost(report),
};

const isPage = (response: Response): boolean => Array.isArray(response.data) && "next_cursor" in response;
const isKeyOf = (name: string) => /^(run_id|id|key_id|user_id|model_id|delivery_id|webhook_id)$/.test(name);
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
