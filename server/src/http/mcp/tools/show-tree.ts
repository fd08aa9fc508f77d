// Translates show_tree to runs.tree, and draws the tree as text.
import { z } from "zod";
import { RunTree } from "../../../contract/schemas/library.ts";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { getRunTree } from "../../../operations/runs/tree.ts";
import { dollars } from "../run-answer.ts";
import { argumentsSchema, contentSchema, fieldsOf, READS, type Tool } from "../tool.ts";

/** A tree can have thousands of runs; an answer shows the first and newest of them. */
const MAX_NODES = 100;
const MAX_PROMPT_CHARACTERS = 120;

const Node = RunTree.shape.nodes.element.pick({
  ...{ run_id: true, parent_run_id: true, run_type: true, status: true, model: true, cost: true, prompt: true },
  image_url: true,
});
const TreeAnswer = RunTree.pick({ root_run_id: true, totals: true }).extend({ nodes: z.array(Node), omitted: z.int() });

export const showTreeTool: Tool = {
  name: "show_tree",
  title: "Show the tree of a run",
  description: "Show what a run was derived from and what was derived from it, with the cost of each run and the sum.",
  annotations: READS,
  inputSchema: argumentsSchema(fieldsOf(getRunTree, "run_id")),
  outputSchema: contentSchema(TreeAnswer),
  translate: (input) => ({ operation: getRunTree, input }),
  answer(response) {
    const { root_run_id, totals, nodes } = response as unknown as RunTree;
    const shown = nodes.length <= MAX_NODES ? nodes : [nodes[0]!, ...nodes.slice(1 - MAX_NODES)];
    const slim = shown.map(({ run_id, parent_run_id, run_type, status, model, cost, prompt, image_url }) => ({
      ...{ run_id, parent_run_id, run_type, status, model, cost, image_url },
      prompt: prompt?.slice(0, MAX_PROMPT_CHARACTERS) ?? null,
    }));
    const omitted = nodes.length - shown.length;
    return {
      text: [
        `${totals.runs} runs, ${totals.failed} failed, ${dollars(totals.amount)} in total.`,
        ...drawTree(slim),
        ...(omitted > 0 ? [`${omitted} runs are not shown.`] : []),
      ].join("\n"),
      content: { root_run_id, totals, nodes: slim, omitted } as JsonObject,
    };
  },
};

type TreeNode = z.infer<typeof Node>;

/** One line per run, indented below its parent. */
function drawTree(nodes: TreeNode[]): string[] {
  const byId = new Map(nodes.map((node) => [node.run_id, node]));
  const children = Map.groupBy(nodes, ({ parent_run_id }) =>
    parent_run_id !== null && byId.has(parent_run_id) ? parent_run_id : "",
  );
  const draw = (node: TreeNode, depth: number): string[] => {
    const { run_id, run_type, status, cost, prompt } = node;
    const price = cost ? ` ${dollars(cost.amount)}` : "";
    const line = `${"  ".repeat(depth)}${run_id} ${run_type} ${status}${price}${prompt ? ` "${prompt.slice(0, 60)}"` : ""}`;
    return [line, ...(children.get(run_id) ?? []).flatMap((child) => draw(child, depth + 1))];
  };
  return (children.get("") ?? []).flatMap((node) => draw(node, 0));
}
