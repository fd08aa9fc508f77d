// Validates a graph against the nodes of a server, with ComfyUI's own messages: before a job is accepted every input of
// every node that leads to a result is checked.
import { BUILT_IN_NODES, type ComfyuiAge, type NodeInput } from "./nodes.ts";

export type PromptGraph = Record<string, { class_type?: unknown; inputs?: Record<string, unknown> }>;
type Problem = { type: string; message: string; details: string; extra_info: Record<string, unknown> };
type NodeErrors = Record<string, { errors: Problem[]; dependent_outputs: string[]; class_type: string }>;
export type ValidationResponse = { error: Problem; node_errors: NodeErrors };

/** What this one server has: files by folder, and images that were uploaded to it. */
export type InstalledNodes = {
  listed(folder: string): string[];
  has(folder: string, file: string): boolean;
  hasImage(name: string): boolean;
};

const problem = (type: string, message: string, details = "", extra_info = {}): Problem => ({
  type,
  message,
  details,
  extra_info,
});

export function validateGraph(
  graph: PromptGraph,
  installed: InstalledNodes,
  age: ComfyuiAge,
): ValidationResponse | undefined {
  for (const [id, { class_type }] of Object.entries(graph)) {
    if (typeof class_type === "string" && BUILT_IN_NODES[class_type]) continue;
    return { error: missingNode(id, class_type, age), node_errors: {} };
  }
  const savers = Object.keys(graph).filter((id) => classOf(graph, id).saves);
  if (savers.length === 0) return { error: problem("prompt_no_outputs", "Prompt has no outputs"), node_errors: {} };
  const node_errors: NodeErrors = {};
  for (const id of Object.keys(graph)) {
    const errors = problemsOf(graph, id, installed);
    if (errors.length > 0) {
      node_errors[id] = { errors, dependent_outputs: savers, class_type: String(graph[id]!.class_type) };
    }
  }
  if (Object.keys(node_errors).length === 0) return undefined;
  return { error: problem("prompt_outputs_failed_validation", "Prompt outputs failed validation"), node_errors };
}

/** Servers before `missing_node_type` report it as an invalid prompt, and name the node only in the message. */
function missingNode(id: string, class_type: unknown, age: ComfyuiAge): Problem {
  if (age !== "new")
    return problem("invalid_prompt", `Cannot execute because node ${class_type} does not exist.`, `Node ID '#${id}'`);
  const message = `Node '${id}' not found. The custom node may not be installed.`;
  return problem("missing_node_type", message, `Node ID '#${id}'`, { node_id: id, class_type });
}

const classOf = (graph: PromptGraph, id: string) => BUILT_IN_NODES[String(graph[id]!.class_type)]!;

function problemsOf(graph: PromptGraph, id: string, installed: InstalledNodes): Problem[] {
  const given = graph[id]!.inputs ?? {};
  return Object.entries(classOf(graph, id).inputs).flatMap(([name, input]) => {
    if (given[name] !== undefined) return problemOf({ name, input, value: given[name] }, graph, installed) ?? [];
    if (input.optional) return [];
    return [problem("required_input_missing", "Required input is missing", name, { input_name: name })];
  });
}

type Asked = { name: string; input: NodeInput; value: unknown };

function problemOf({ name, input, value }: Asked, graph: PromptGraph, installed: InstalledNodes): Problem | undefined {
  const about = { input_name: name, received_value: value };
  if (Array.isArray(value)) return linkProblem(value, { name, input, value }, graph);
  if (input.kind === "link")
    return problem("bad_linked_input", "Bad linked input, must be a length-2 list", name, about);
  if (input.kind === "image" && !installed.hasImage(String(value)))
    return problem(
      "custom_validation_failed",
      "Custom validation failed for node",
      `image - Invalid image file: ${value}`,
      about,
    );
  if (input.kind === "integer" || input.kind === "number") return numberProblem({ name, input, value });
  const choices =
    input.kind === "choice" ? input.of : input.kind === "file" ? installed.listed(input.folder) : undefined;
  const isThere = input.kind === "file" ? installed.has(input.folder, String(value)) : choices?.includes(String(value));
  if (choices && !isThere)
    return problem("value_not_in_list", "Value not in list", `${name}: '${value}' not in ${choices}`, about);
  return undefined;
}

function numberProblem({ name, input, value }: Asked): Problem | undefined {
  if (input.kind !== "integer" && input.kind !== "number") return undefined;
  const about = { input_name: name, received_value: value };
  if (typeof value !== "number" || (input.kind === "integer" && !Number.isInteger(value)))
    return problem("invalid_input_type", "Failed to convert an input value", `${name}, ${value}`, about);
  if (value < input.least)
    return problem("value_smaller_than_min", `Value ${value} smaller than min of ${input.least}`, name, about);
  if (value > input.most)
    return problem("value_bigger_than_max", `Value ${value} bigger than max of ${input.most}`, name, about);
  return undefined;
}

function linkProblem([from, output]: unknown[], { name, input }: Asked, graph: PromptGraph): Problem | undefined {
  const about = { input_name: name, linked_node: [from, output] };
  const source = graph[String(from)];
  const given = source && classOf(graph, String(from)).gives[Number(output)];
  if (given === undefined)
    return problem("exception_during_inner_validation", "Exception when validating inner node", String(from), about);
  const wanted = input.kind === "link" ? input.type : input.kind.toUpperCase();
  if (given === wanted) return undefined;
  const details = `${name}, received_type(${given}) mismatch input_type(${wanted})`;
  return problem("return_type_mismatch", "Return type mismatch between linked nodes", details, about);
}

/** Inputs that the node does not have. A real server passes over them in silence. */
export const listUnknownNodes = (graph: PromptGraph): string[] =>
  Object.entries(graph).flatMap(([id, { class_type, inputs = {} }]) =>
    Object.keys(inputs)
      .filter((name) => !BUILT_IN_NODES[String(class_type)]?.inputs[name])
      .map((name) => `${id}.${name}`),
  );
