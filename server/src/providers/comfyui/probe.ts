// Checks each server: whether it responds, which nodes it has, and whether it has the files of our graphs. A graph
// that no server can run is missing.
import { z } from "zod";
import type { Offer, ProviderProbe } from "../provider.ts";
import { type ComfyuiGraph, loadGraph, withFileNames } from "./graph.ts";
import { type ComfyuiContext, callComfyui, fileNameOverrides, serversOf } from "./pool.ts";

const Stats = z.object({ system: z.object({ comfyui_version: z.string().default("?") }) });
const Inputs = z.record(z.string(), z.array(z.unknown()).min(1)).optional();
const Info = z.record(z.string(), z.object({ input: z.object({ required: Inputs, optional: Inputs }) }));
type NodeInfo = z.output<typeof Info>[string];

type ServerProbe = { server: string; version: string; lacks: Map<string, string[]> };

export async function probeServers(offers: Offer[], context: ComfyuiContext): Promise<ProviderProbe> {
  const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
  const graphs = new Map(await Promise.all(names.map(async (name) => [name, await readable(name, context)] as const)));
  const servers = serversOf(context.env);
  const results = await Promise.allSettled(servers.map((server) => probeServer(context, server, graphs)));
  const seen = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const unreachable = results.find((result) => result.status === "rejected");
  if (seen.length === 0) throw unreachable!.reason;
  return {
    message: renderMessage(servers, seen),
    missing: names.filter((name) => seen.every(({ lacks }) => lacks.has(name))),
  };
}

/** The error text instead of a graph if the operator's file is invalid. */
const readable = async (name: string, { env }: ComfyuiContext): Promise<ComfyuiGraph | string> =>
  loadGraph(name, env.COMFYUI_GRAPHS).then(
    (graph) => withFileNames(graph, fileNameOverrides(env)),
    (thrown) => String(thrown.cause?.cause ?? thrown),
  );

async function probeServer(
  context: ComfyuiContext,
  server: string,
  graphs: Map<string, ComfyuiGraph | string>,
): Promise<ServerProbe> {
  const stats = await callComfyui(context, server, { path: "/system_stats", reply: Stats });
  const classes = new Set(
    [...graphs.values()].flatMap((graph) =>
      typeof graph === "string" ? [] : Object.values(graph.nodes).map(({ class_type }) => class_type),
    ),
  );
  const known = new Map<string, NodeInfo>();
  for (const name of classes) {
    const info = await callComfyui(context, server, { path: `/object_info/${encodeURIComponent(name)}`, reply: Info });
    if (info[name]) known.set(name, info[name]);
  }
  const lacks = new Map<string, string[]>();
  for (const [name, graph] of graphs) {
    const lacking = typeof graph === "string" ? [graph] : lackingFor(graph, known);
    if (lacking.length > 0) lacks.set(name, lacking);
  }
  return { server, version: stats.system.comfyui_version, lacks };
}

function lackingFor({ nodes, slots }: ComfyuiGraph, known: Map<string, NodeInfo>): string[] {
  const lacking = Object.values(nodes).flatMap(({ class_type, inputs }) => {
    const info = known.get(class_type);
    if (!info) return [`the node ${class_type}`];
    return Object.entries(inputs).flatMap(([input, value]) => {
      const slot = typeof value === "string" && value.startsWith("$") ? slots[value.slice(1)] : undefined;
      const choices = choicesOf(info.input.required?.[input] ?? info.input.optional?.[input]);
      const isThere = slot?.type !== "file" || slot.default === undefined || choices?.includes(slot.default);
      return isThere ? [] : [String(slot?.default)];
    });
  });
  return [...new Set(lacking)];
}

/** The allowed values of a node input: older servers list them as the type, newer ones as an option. */
function choicesOf([type, about]: unknown[] = []): unknown[] | undefined {
  if (Array.isArray(type)) return type;
  return (about as { options?: unknown[] } | undefined)?.options;
}

const renderMessage = (servers: string[], seen: ServerProbe[]): string =>
  [
    `${seen.length} of ${servers.length} servers respond`,
    ...seen.flatMap(({ server, version, lacks }) => [
      `${server} is ComfyUI ${version}`,
      ...[...lacks].map(([name, what]) => `${server} lacks ${what.join(" and ")} for ${name}`),
    ]),
  ].join("; ");
