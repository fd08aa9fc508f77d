// Requests to the operator's ComfyUI servers, and the selection of a server for a job. The state of the servers is
// read for each job; a server that does not respond in time is skipped.
import { z } from "zod";
import { callProvider, providerFault } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import { modelsIn } from "./graph.ts";

const URL_PATTERN = "https?://[^,\\s]+";

export const ComfyuiEnv = z.object({
  COMFYUI_URLS: z
    .string()
    .regex(new RegExp(`^${URL_PATTERN}(\\s*,\\s*${URL_PATTERN})*$`))
    .describe("URLs of your ComfyUI servers, comma-separated. Enables the provider"),
  COMFYUI_TOKEN: z.string().optional().describe("Bearer token, for servers behind an authenticating proxy"),
  COMFYUI_FILES: z
    .string()
    .optional()
    .describe("Base models with other file names on your servers, as `default=yours`, comma-separated"),
  COMFYUI_GRAPHS: z
    .string()
    .optional()
    .describe("Directory with your own graphs. A graph with the name of a built-in graph replaces it"),
});
export type ComfyuiEnv = z.output<typeof ComfyuiEnv>;
export type ComfyuiContext = ProviderContext<ComfyuiEnv>;

/** Client ID of all jobs, so that one WebSocket per server gets the notifications of all of them. */
export const CLIENT_ID = "gesso";

export const serversOf = ({ COMFYUI_URLS }: Pick<ComfyuiEnv, "COMFYUI_URLS">): string[] => [
  ...new Set(COMFYUI_URLS.split(",").map((url) => url.trim().replace(/\/+$/, ""))),
];

export const fileNameOverrides = ({ COMFYUI_FILES = "" }: ComfyuiEnv): Record<string, string> =>
  Object.fromEntries(
    COMFYUI_FILES.split(",")
      .map((pair) => pair.split("=").map((name) => name.trim()))
      .filter(([ours, yours]) => ours && yours),
  );

export const credentials = ({ COMFYUI_TOKEN }: ComfyuiEnv): Record<string, string> =>
  COMFYUI_TOKEN ? { authorization: `Bearer ${COMFYUI_TOKEN}` } : {};

type ComfyuiRequest<Reply> = Omit<Parameters<typeof callProvider<Reply>>[1], "origin" | "url" | "headers"> & {
  path: string;
};

/** Without side effects by default: only `POST /prompt` starts work. */
export const callComfyui = <Reply>(
  context: ComfyuiContext,
  server: string,
  { path, ...request }: ComfyuiRequest<Reply>,
) =>
  callProvider(context, {
    origin: server,
    url: `${server}${path}`,
    headers: credentials(context.env),
    hasNoSideEffects: true,
    ...request,
  });

/** An entry starts with number, ID and graph. */
const Entry = z.tuple([z.number(), z.string(), z.unknown()], z.unknown());
export const ComfyuiQueue = z.object({ queue_running: z.array(Entry), queue_pending: z.array(Entry) });
const LastDone = z.record(z.string(), z.object({ prompt: Entry }));

export type ServerRequirements = { models: string[]; files: { folder: string; file: string }[] };
type ServerStatus = { server: string; waiting: number; isWarm: boolean; hasFiles: boolean };

/** Timeout of a status request. A slower server would be slow with the job too. */
const STATUS_TIMEOUT_SECONDS = 3;

/**
 * Selects the server with the shortest queue. Loading a model takes about as long as a job, so a server with other
 * models in memory counts as one job longer. The key breaks ties, so that simultaneous jobs spread over the servers.
 */
export async function chooseServer(
  context: ComfyuiContext,
  needs: ServerRequirements,
  tieBreak: (server: string) => string,
) {
  const servers = serversOf(context.env);
  if (servers.length === 1) return servers[0]!;
  const results = await Promise.allSettled(
    servers.map((server) => withTimeout(context, readServerStatus(context, server, needs))),
  );
  const statuses = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const lost = results.find((result) => result.status === "rejected");
  if (statuses.length === 0) throw lost!.reason;
  const able = statuses.filter(({ hasFiles }) => hasFiles);
  const cost = ({ waiting, isWarm }: ServerStatus) => waiting + (isWarm ? 0 : 1);
  const [best] = (able.length > 0 ? able : statuses).sort(
    (a, b) => cost(a) - cost(b) || tieBreak(a.server).localeCompare(tieBreak(b.server)),
  );
  return best!.server;
}

async function readServerStatus(
  context: ComfyuiContext,
  server: string,
  { models, files }: ServerRequirements,
): Promise<ServerStatus> {
  const folders = [...new Set(files.map(({ folder }) => folder))];
  const [{ queue_running, queue_pending }, ...lists] = await Promise.all([
    callComfyui(context, server, { path: "/queue", reply: ComfyuiQueue }),
    ...folders.map((folder) => filesIn(context, server, folder)),
  ]);
  const ahead = [...queue_running, ...queue_pending.sort(([a], [b]) => a - b)];
  const last = modelsIn(ahead.at(-1)?.[2] ?? (await lastDone(context, server)));
  return {
    server,
    waiting: ahead.length,
    isWarm: models.every((model) => last.includes(model)),
    hasFiles: files.every(({ folder, file }) => lists[folders.indexOf(folder)]?.includes(file) ?? true),
  };
}

async function lastDone(context: ComfyuiContext, server: string): Promise<unknown> {
  const done = await callComfyui(context, server, { path: "/history?max_items=1", reply: LastDone });
  return Object.values(done).at(-1)?.prompt[2];
}

/** The files in a model folder of the server. Empty if the folder does not exist. */
async function filesIn(context: ComfyuiContext, server: string, folder: string): Promise<string[] | undefined> {
  const path = `/models/${encodeURIComponent(folder)}`;
  return callComfyui(context, server, { path, reply: z.array(z.string()) }).catch(() => undefined);
}

async function withTimeout<T>({ after }: ComfyuiContext, result: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = after(STATUS_TIMEOUT_SECONDS * 1000, () =>
    reject(providerFault("provider_error", { kind: "unsent", cause: "the server did not respond in time" })),
  );
  return Promise.race([result, timeout]).finally(timer.stop);
}
