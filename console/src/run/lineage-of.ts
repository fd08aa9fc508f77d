// The nearest relatives of a run in its tree.
import type { RunNode } from "@gesso/client";

export type RunLineage = { self?: RunNode; parent?: RunNode; children: RunNode[]; siblings: RunNode[] };

export function lineageOf(nodes: readonly RunNode[], runId: string): RunLineage {
  const self = nodes.find(({ run_id }) => run_id === runId);
  const parent = nodes.find(({ run_id }) => run_id === self?.parent_run_id);
  return {
    ...(self && { self }),
    ...(parent && { parent }),
    children: nodes.filter(({ parent_run_id }) => parent_run_id === runId),
    siblings: parent
      ? nodes.filter(({ run_id, parent_run_id }) => parent_run_id === parent.run_id && run_id !== runId)
      : [],
  };
}
