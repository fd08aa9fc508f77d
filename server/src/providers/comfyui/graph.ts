// A graph of ComfyUI nodes as data: what is in it, which of its values are slots, and how it becomes the API format
// that a server takes. Nothing reaches a node but literals of the file and values of declared slots, checked by their
// type.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { inputRejected, modelUnavailable } from "../call-provider.ts";
import fluxDev from "./graphs/flux-dev.json" with { type: "json" };
import fluxDevImage from "./graphs/flux-dev-image.json" with { type: "json" };
import qwenImageEdit from "./graphs/qwen-image-edit.json" with { type: "json" };
import wanImage21 from "./graphs/wan-image-2.1.json" with { type: "json" };
import wanImage22 from "./graphs/wan-image-2.2.json" with { type: "json" };
import wanVideo22 from "./graphs/wan-video-2.2.json" with { type: "json" };

const Value = z.union([z.string(), z.number(), z.boolean()]);
const Link = z.tuple([z.string(), z.int().min(0)]);

/**
 * `default` is what a slot holds when nobody fills it. One without stays empty, and nodes that need it are left out.
 */
const Slot = z.strictObject({
  type: z.enum(["string", "integer", "number", "file"]),
  /** Where a server keeps this kind of file, by its own name for the folder. */
  folder: z.string().optional(),
  default: Value.optional(),
});

/** `only_with` names the slot without which the node is left out; `else` is what others are then linked to instead. */
const Node = z.strictObject({
  class_type: z.string(),
  inputs: z.record(z.string(), z.union([Value, Link])),
  only_with: z.string().optional(),
  else: Link.optional(),
});
export const ComfyuiGraph = z.strictObject({
  says: z.string(),
  slots: z.record(z.string(), Slot),
  nodes: z.record(z.string(), Node),
});
export type ComfyuiGraph = z.output<typeof ComfyuiGraph>;
type Link = z.output<typeof Link>;

export type SlotValues = Record<string, string | number | undefined>;
/** What `POST /prompt` takes. */
export type ApiGraph = Record<string, { class_type: string; inputs: Record<string, z.output<typeof Value> | Link> }>;

/** By name. A file may have two: what is offered with a LoRA has another place among providers than what is not. */
const OURS: Record<string, unknown> = {
  "flux-dev": fluxDev,
  "flux-dev-lora": fluxDev,
  "flux-dev-image": fluxDevImage,
  "flux-dev-image-lora": fluxDevImage,
  "qwen-image-edit": qwenImageEdit,
  "wan-image-2.1": wanImage21,
  "wan-image-2.2": wanImage22,
  "wan-video-2.2": wanVideo22,
};
export const graphNames = Object.keys(OURS);

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The operator's own graph of this name, or ours. Read anew each time, so that a change needs no restart. */
export async function loadGraph(name: string, folder?: string): Promise<ComfyuiGraph> {
  if (!NAME.test(name)) throw modelUnavailable(`no graph can have the name ${name}`);
  const own = folder === undefined ? undefined : await readOwn(join(folder, `${name}.json`));
  const found = own ?? OURS[name];
  if (found === undefined) throw modelUnavailable(`there is no graph ${name}`);
  const parsed = ComfyuiGraph.safeParse(found);
  if (!parsed.success) throw modelUnavailable(`the graph ${name} is not one: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

async function readOwn(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw modelUnavailable(thrown);
  });
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (thrown) {
    throw modelUnavailable(`${path} is not JSON: ${thrown}`);
  }
}

/** The same graph with files under the names that the operator's servers have them. */
export const withFileNames = (graph: ComfyuiGraph, names: Record<string, string>): ComfyuiGraph => ({
  ...graph,
  slots: Object.fromEntries(
    Object.entries(graph.slots).map(([name, slot]) => {
      const other = slot.type === "file" ? names[String(slot.default)] : undefined;
      return [name, other === undefined ? slot : { ...slot, default: other }];
    }),
  ),
});

const SUITS: Record<z.output<typeof Slot>["type"], (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => Number.isFinite(value),
  // A name, never a path. Base models of the operator may lie in folders; what callers name may not.
  file: (value) => typeof value === "string" && !value.split(/[\\/]/).includes(".."),
};

function settled({ slots }: ComfyuiGraph, given: SlotValues): Map<string, z.output<typeof Value>> {
  const values = new Map<string, z.output<typeof Value>>();
  for (const [name, { type, default: usual }] of Object.entries(slots)) {
    const value = given[name] ?? usual;
    if (value === undefined) continue;
    if (!SUITS[type](value)) throw inputRejected(`${name} is no ${type}`, { reason: "unsuitable_value", field: name });
    values.set(name, value);
  }
  return values;
}

export function fillGraph(graph: ComfyuiGraph, given: SlotValues): ApiGraph {
  const values = settled(graph, given);
  const isKept = (id: string) => {
    const needed = graph.nodes[id]?.only_with;
    return needed === undefined || values.has(needed);
  };
  const follow = ([id, output]: Link): Link | undefined => {
    if (isKept(id)) return [id, output];
    const instead = graph.nodes[id]?.else;
    return instead && follow(instead);
  };
  const settle = (input: z.output<typeof Value> | Link) => {
    if (Array.isArray(input)) return follow(input);
    if (typeof input !== "string" || !input.startsWith("$")) return input;
    const value = values.get(input.slice(1));
    if (value === undefined) throw inputRejected(`nothing fills ${input}`, { reason: "missing_value", field: input });
    return value;
  };
  const kept = Object.entries(graph.nodes).filter(([id]) => isKept(id));
  return Object.fromEntries(
    kept.map(([id, { class_type, inputs }]) => {
      const filled = Object.entries(inputs).flatMap(([name, input]) => {
        const value = settle(input);
        return value === undefined ? [] : [[name, value] as const];
      });
      return [id, { class_type, inputs: Object.fromEntries(filled) }];
    }),
  );
}

/** The files that a job needs on the server that does it, by folder. LoRAs are among them where the job brings one. */
export function filesOf({ slots }: ComfyuiGraph, given: SlotValues): { folder: string; file: string }[] {
  return Object.entries(slots).flatMap(([name, { type, folder, default: usual }]) => {
    const file = given[name] ?? usual;
    return type === "file" && folder !== undefined && typeof file === "string" ? [{ folder, file }] : [];
  });
}

/** The big files that take long to load: what a server has in its memory when it has just done such a job. */
export const modelsIn = (nodes: unknown): string[] =>
  typeof nodes !== "object" || nodes === null
    ? []
    : Object.values(nodes).flatMap((node) => {
        const { unet_name, ckpt_name } = (node as { inputs?: Record<string, unknown> } | null)?.inputs ?? {};
        return [unet_name, ckpt_name].filter((name) => typeof name === "string");
      });
