// `gesso admin reconcile`: what does not agree after a restore, run by run, and what could not be compared.
import type { Reconciliation } from "@gesso/client";
import { renderTable } from "./table.ts";
import { formatAmount, paint, toHarmlessText } from "./terminal.ts";

type Finding = Reconciliation["data"][number];
type Comparison = Reconciliation["comparisons"][number];

const INDENT = "  ";

const MEANINGS: Record<Finding["finding"], string> = {
  file_without_run: "The run is lost; its file is in the storage",
  file_without_asset: "The storage has a file that the run does not know",
  asset_without_file: "The storage does not have a file of the run",
  job_without_run: "The run is lost; the provider has its job",
  job_without_attempt: "The provider has a job that the run does not know",
  job_twice: "The provider has a second job of one attempt",
  run_unpaid: "The ledger has less than the run cost",
  run_overcharged: "The ledger has more than the run cost",
};

const STATES: Record<Comparison["state"], string> = {
  complete: "",
  incomplete: "not enough time: add --max-seconds 300",
  failed: "no response: try again",
  unsupported: "has no list of jobs: look at its console",
};

export const renderReconciliation = ({ since, data, has_more, comparisons }: Reconciliation): string[] => [
  ...[...Map.groupBy(data, ({ run_id }) => run_id).values()].flatMap(renderRunFindings),
  ...(data.length === 0 ? [`No findings since ${since}.`] : [renderCounts(data)]),
  ...(has_more ? [`More: add --after ${data.at(-1)!.run_id}`] : []),
  "",
  ...renderTable(
    comparisons.map(({ of, provider, state, compared }) => ({
      ...{ compared: provider ? `${of} of ${provider}` : of, count: compared, state, note: STATES[state] },
    })),
    ["compared", "count", "state", "note"],
  ),
];

function renderRunFindings(findings: Finding[]): string[] {
  const { run_id, run_status, tenant_id } = findings[0]!;
  const about = [run_status ?? "unknown run", tenant_id && `tenant ${tenant_id}`].filter(Boolean).join(", ");
  return [
    `${paint("bold", run_id, process.stdout)}  ${about}`,
    ...findings.map((finding) =>
      toHarmlessText(`${INDENT}${finding.finding}  ${MEANINGS[finding.finding]}: ${renderSubject(finding)}`),
    ),
    "",
  ];
}

function renderSubject({ file, job, cost }: Finding): string {
  if (file) return `${file.storage_key}, ${file.size_bytes} bytes`;
  if (job) return `${job.provider} ${Object.values(job.ticket).join(" ")}, key ${job.idempotency_key}`;
  return cost ? `cost ${formatAmount(cost.expected)}, charged ${formatAmount(cost.charged)}` : "";
}

const renderCounts = (data: Finding[]) =>
  [...Map.groupBy(data, ({ finding }) => finding)].map(([name, { length }]) => `${length} ${name}`).join(", ");
