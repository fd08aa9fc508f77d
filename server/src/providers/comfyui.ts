// ComfyUI on the operator's own servers: a graph of nodes is posted to `/prompt` of one server with an ID that we
// choose. Servers hold queue and history in memory only, so a restarted server has lost its jobs.
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import { jobFailed, providerFault } from "./call-provider.ts";
import { classifyExecutionError, classifyRejection } from "./comfyui/error-classification.ts";
import { filesOf, fillGraph, loadGraph, modelsIn, withFileNames } from "./comfyui/graph.ts";
import { type ComfyuiFile, type ComfyuiJobState, cancelJob, readJobState } from "./comfyui/jobs.ts";
import { comfyuiOffers } from "./comfyui/offers.ts";
import {
  CLIENT_ID,
  type ComfyuiContext,
  ComfyuiEnv,
  callComfyui,
  chooseServer,
  credentials,
  fileNameOverrides,
  serversOf,
} from "./comfyui/pool.ts";
import { probeServers } from "./comfyui/probe.ts";
import { promptIdOf, slotsOf } from "./comfyui/slots.ts";
import { watchServers } from "./comfyui/watch.ts";
import { type Asset, defineProvider, type Ticket } from "./provider.ts";

const Queued = z.object({ prompt_id: z.string() });
const Uploaded = z.object({ name: z.string() });

/** A server that is unreachable for this long counts as dead, and its jobs are submitted to another server. */
const DEAD_SECONDS = 20;

export const comfyui = defineProvider<ComfyuiEnv>({
  id: "comfyui",
  profile: {
    name: "ComfyUI",
    unlocks: "your own GPUs: wan, qwen-image-edit, LoRAs, videos",
  },
  canAlwaysCallBack: true,
  env: ComfyuiEnv,
  offers: comfyuiOffers,
  resultOrigins: (env) => [...new Set(serversOf(env).map((server) => new URL(server).origin))],
  resultHeaders: credentials,

  async submit(job, offer, context) {
    const graph = withFileNames(
      await loadGraph(offer.upstreamModel, context.env.COMFYUI_GRAPHS),
      fileNameOverrides(context.env),
    );
    const [image] = job.images ?? [];
    const prompt_id = promptIdOf(context.key);
    const name = image && `${prompt_id}.${image.media_type.replace(/^image\//, "")}`;
    const slots = await slotsOf(job, context.key, name && `gesso/${name}`);
    const prompt = fillGraph(graph, slots);
    const needs = { models: modelsIn(prompt), files: filesOf(graph, slots) };
    const server = await chooseServer(context, needs, (each) =>
      createHash("sha256").update(`${context.key} ${each}`).digest("hex"),
    );
    if (image && name) await upload(context, server, { image, name });
    const reply = await callComfyui(context, server, {
      path: "/prompt",
      body: { prompt, prompt_id, client_id: CLIENT_ID },
      reply: Queued,
      hasNoSideEffects: false,
      classify: classifyRejection,
    });
    return { state: "running", ticket: { prompt_id: reply.prompt_id, server } };
  },

  async poll(ticket, context) {
    const { server, jobState } = await locate(ticket, context);
    if (jobState.state === "running") return { state: "running", ticket: { ...ticket, server } };
    if (jobState.state === "failed") throw classifyExecutionError(jobState.error);
    if (jobState.state === "canceled") throw jobFailed("the job was canceled on the server");
    return { state: "done", outputs: jobState.files.map((file) => ({ url: viewOf(server, file) })) };
  },

  async findJob(context) {
    const prompt_id = promptIdOf(context.key);
    const servers = serversOf(context.env);
    const results = await Promise.allSettled(servers.map((server) => readJobState(context, server, prompt_id)));
    const at = results.findIndex((result) => result.status === "fulfilled" && result.value !== undefined);
    if (at >= 0) return { prompt_id, server: servers[at]! };
    // The job may be on the server that does not respond.
    const unreachable = results.find((result) => result.status === "rejected");
    if (unreachable) throw unreachable.reason;
    return undefined;
  },

  async cancel({ prompt_id, server }, context) {
    if (!serversOf(context.env).includes(server!)) return { isUncharged: false };
    return cancelJob(context, server!, prompt_id!);
  },

  probe: probeServers,
  watch: watchServers,
});

type Located = { server: string; jobState: ComfyuiJobState };

/**
 * Finds the server and the state of a job: first on its own server, then on all others. The job is lost only if every
 * reachable server does not know it.
 */
async function locate({ prompt_id, server }: Ticket, context: ComfyuiContext): Promise<Located> {
  const servers = serversOf(context.env);
  const unreachable: unknown[] = [];
  const isThere = async (each: string): Promise<Located | undefined> => {
    const jobState = await readJobState(context, each, prompt_id!).catch((thrown) => void unreachable.push(thrown));
    return jobState && { server: each, jobState };
  };
  const own = servers.includes(server!) ? await isThere(server!) : undefined;
  if (own) return own;
  if (unreachable.length > 0 && context.unreachableSeconds <= DEAD_SECONDS) throw unreachable[0];
  const elsewhere = await Promise.all(servers.filter((each) => each !== server).map(isThere));
  const found = elsewhere.find((each) => each !== undefined);
  if (found) return found;
  if (unreachable.length > 0 && context.unreachableSeconds <= DEAD_SECONDS) throw unreachable[0];
  throw providerFault("provider_error", { kind: "gone", cause: unreachable[0] ?? "no server knows the job" });
}

async function upload(
  context: ComfyuiContext,
  server: string,
  { image, name }: { image: NonNullable<Job<Asset>["images"]>[number]; name: string },
): Promise<void> {
  const form = new FormData();
  const bytes = Buffer.from(await image.bytes());
  form.set("image", new Blob([bytes], { type: image.media_type }), name);
  form.set("subfolder", "gesso");
  form.set("type", "input");
  form.set("overwrite", "true");
  await callComfyui(context, server, { path: "/upload/image", body: form, reply: Uploaded });
}

const viewOf = (server: string, { filename, subfolder, type }: ComfyuiFile) =>
  `${server}/view?${new URLSearchParams({ filename, subfolder, type })}`;
