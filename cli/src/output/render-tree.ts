// `gesso runs tree`: one line per run with its state and cost, indented below the run that it was derived from.
import type { RunNode, RunTree } from "@gesso/client";
import { formatAmount, paint, toHarmlessText } from "./terminal.ts";

const MAX_PROMPT = 40;
const STYLES: Record<string, "green" | "red" | "yellow"> = { completed: "green", failed: "red", canceled: "yellow" };

export function renderTree({ root_run_id, nodes, totals }: RunTree): string[] {
  const lines = nodes.flatMap((node) =>
    node.run_id === root_run_id ? renderBranch(node, nodes, { head: "", indent: "" }) : [],
  );
  const shown = new Set(lines.map(({ runId }) => runId));
  const others = nodes.filter(({ run_id }) => !shown.has(run_id)).map((node) => ({ text: `→ ${describeNode(node)}` }));
  const width = Math.max(...lines.map(({ prefix }) => prefix.length));
  const failed = totals.failed > 0 ? `, ${totals.failed} failed` : "";
  return [
    ...lines.map(({ prefix, node }) => `${prefix.padEnd(width)} ${describeNode(node)}`),
    ...others.map(({ text }) => text),
    `${totals.runs} ${totals.runs === 1 ? "run" : "runs"}${failed}, ${formatAmount(totals.amount)}`,
  ];
}

type TreeLine = { runId: string; prefix: string; node: RunNode };

function renderBranch(node: RunNode, nodes: RunNode[], { head, indent }: { head: string; indent: string }): TreeLine[] {
  const children = nodes.filter(({ parent_run_id }) => parent_run_id === node.run_id);
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return renderBranch(child, nodes, {
      head: `${indent}${isLast ? "└─ " : "├─ "}`,
      indent: `${indent}${isLast ? "   " : "│  "}`,
    });
  });
  return [{ runId: node.run_id, prefix: `${head}${node.run_type}`, node }, ...below];
}

function describeNode({ run_id, status, cost, prompt, deleted }: RunNode): string {
  const state = deleted ? "deleted" : status;
  const text = toHarmlessText(prompt ?? "");
  const shown = text.length > MAX_PROMPT ? `${text.slice(0, MAX_PROMPT - 1)}…` : text;
  const amount = (cost ? formatAmount(cost.amount) : "–").padStart(8);
  const words = [paint(STYLES[state] ?? "dim", state.padEnd(10), process.stdout), amount, run_id, shown];
  return words.join("  ").trimEnd();
}
