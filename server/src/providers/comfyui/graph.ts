// ComfyUI graphs as data with typed slots, and their conversion to the API format. Nodes receive only literals of the
// file and values of declared slots, which are checked by type.
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
 * `default` is the value of a slot that the job does not fill. Without a default, nodes that need the slot are removed.
 */
const Slot = z.strictObject({
  type: z.enum(["string", "integer", "number", "file"]),
  /** Name of the model folder on the server for this kind of file. */
  folder: z.string().optional(),
  default: Value.optional(),
});

/** `only_with`: the node is removed if this slot is empty; `else`: what other nodes link to instead. */
const Node = z.strictObject({
  class_type: z.string(),
  inputs: z.record(z.string(), z.union([Value, Link])),
  only_with: z.string().optional(),
  else: Link.optional(),
});
export const ComfyuiGraph = z.strictObject({
  /** For people who read the file; ComfyUI does not get it. */
  description: z.string().optional(),
  slots: z.record(z.string(), Slot),
  nodes: z.record(z.string(), Node),
});
export type ComfyuiGraph = z.output<typeof ComfyuiGraph>;
type Link = z.output<typeof Link>;

export type SlotValues = Record<string, string | number | undefined>;
/** The API format of `POST /prompt`. */
export type ApiGraph = Record<string, { class_type: string; inputs: Record<string, z.output<typeof Value> | Link> }>;

/** Graph files by name. Two names can share a file, because offers with a LoRA have another preference. */
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

export const readBuiltInGraph = (name: string): ComfyuiGraph => ComfyuiGraph.parse(OURS[name]);

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Loads the operator's graph of this name, or the built-in one. Not cached, so that changes need no restart. */
export async function loadGraph(name: string, folder?: string): Promise<ComfyuiGraph> {
  if (!NAME.test(name)) throw modelUnavailable(new Error(`no graph can have the name ${name}`));
  const own = folder === undefined ? undefined : await readOwn(join(folder, `${name}.json`));
  const found = own ?? OURS[name];
  if (found === undefined) throw modelUnavailable(new Error(`there is no graph ${name}`));
  const parsed = ComfyuiGraph.safeParse(found);
  if (!parsed.success)
    throw modelUnavailable(new Error(`the graph ${name} is not one: ${z.prettifyError(parsed.error)}`));
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
    throw modelUnavailable(new Error(`${path} is not JSON: ${thrown}`));
  }
}

/** Replaces file names by those of the operator's servers. */
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
  // Names from callers cannot be paths. Only base models of the operator can be in subfolders.
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

/** Model files that a job needs on its server, by folder, including LoRAs. */
export function filesOf({ slots }: ComfyuiGraph, given: SlotValues): { folder: string; file: string }[] {
  return Object.entries(slots).flatMap(([name, { type, folder, default: usual }]) => {
    const file = given[name] ?? usual;
    return type === "file" && folder !== undefined && typeof file === "string" ? [{ folder, file }] : [];
  });
}

/** Large files that take long to load. A server has them in memory after such a job. */
export const modelsIn = (nodes: unknown): string[] =>
  typeof nodes !== "object" || nodes === null
    ? []
    : Object.values(nodes).flatMap((node) => {
        const { unet_name, ckpt_name } = (node as { inputs?: Record<string, unknown> } | null)?.inputs ?? {};
        return [unet_name, ckpt_name].filter((name) => typeof name === "string");
      });
