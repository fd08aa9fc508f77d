// Sums over the tree of a run, exact to the micro-dollar: its path from the root, and the branch that begins with it.
import type { RunNode } from "@gesso/client";
import { addMoney } from "../format/money.ts";

export type TreeSum = { runs: number; amount: number };

const sumOf = (nodes: readonly RunNode[]): TreeSum => ({
  runs: nodes.length,
  amount: addMoney(nodes.map(({ cost }) => cost?.amount ?? 0)),
});

/** The run and all its ancestors, the root first. */
export function pathTo(nodes: readonly RunNode[], runId: string): RunNode[] {
  const byId = new Map(nodes.map((node) => [node.run_id, node]));
  const path: RunNode[] = [];
  for (let node = byId.get(runId); node; node = byId.get(node.parent_run_id ?? "")) path.unshift(node);
  return path;
}

export const pathSum = (nodes: readonly RunNode[], runId: string): TreeSum => sumOf(pathTo(nodes, runId));

/** The run and all runs below it. */
export function branchSum(nodes: readonly RunNode[], runId: string): TreeSum {
  const children = Map.groupBy(nodes, ({ parent_run_id }) => parent_run_id);
  const branch = nodes.filter(({ run_id }) => run_id === runId);
  for (const node of branch) branch.push(...(children.get(node.run_id) ?? []));
  return sumOf(branch);
}
