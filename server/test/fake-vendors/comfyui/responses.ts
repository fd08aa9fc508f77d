// Responses of a server about its jobs and its nodes, in the formats of both versions.

import type { FinishedJob, QueuedJob } from "./job-queue.ts";
import { BUILT_IN_NODES, type ComfyuiAge, type NodeInput } from "./nodes.ts";
import type { InstalledNodes } from "./validate.ts";

export const renderQueueEntry = ({ number, taken, graph, clientId }: QueuedJob) => [
  number,
  taken.id,
  graph,
  { client_id: clientId },
  ["save"],
];

const statusOf = ({ status, messages }: FinishedJob) => ({
  status_str: status,
  completed: status === "success",
  messages,
});

export const renderHistory = (past: FinishedJob) => ({
  prompt: renderQueueEntry(past.work),
  outputs: past.outputs,
  status: statusOf(past),
  meta: {},
});

export function renderJob(past: FinishedJob, age: ComfyuiAge) {
  const [word, last] = past.messages.at(-1)!;
  const failed = word === "execution_interrupted" && age === "new" ? "cancelled" : "failed";
  return {
    id: past.work.taken.id,
    status: past.status === "success" ? "completed" : failed,
    outputs_count: Object.keys(past.outputs).length,
    outputs: past.outputs,
    execution_status: statusOf(past),
    ...(word === "execution_error" && { execution_error: last }),
  };
}

/** Older servers list what may be chosen in place of the type; newer ones beside it. */
export function renderNodeInfo(name: string, installed: InstalledNodes, age: ComfyuiAge) {
  const choose = (choices: readonly string[]) => (age === "new" ? ["COMBO", { options: choices }] : [choices]);
  const say = (input: NodeInput): unknown[] => {
    if (input.kind === "choice") return choose(input.of);
    if (input.kind === "file") return choose(installed.listed(input.folder));
    if (input.kind === "link") return [input.type];
    if (input.kind === "text") return ["STRING", {}];
    if (input.kind === "image") return [["example.png"], { image_upload: true }];
    return [input.kind === "integer" ? "INT" : "FLOAT", { min: input.least, max: input.most }];
  };
  const { inputs, gives, saves = false } = BUILT_IN_NODES[name]!;
  const some = (isOptional: boolean) =>
    Object.fromEntries(
      Object.entries(inputs)
        .filter(([, input]) => Boolean(input.optional) === isOptional)
        .map(([input, about]) => [input, say(about)]),
    );
  return { input: { required: some(false), optional: some(true) }, output: gives, name, output_node: saves };
}
