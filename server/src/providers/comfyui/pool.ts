// The operator's servers: how one of them is asked, and which of them gets a job. What a server says about itself is
// asked anew for each job, with calls that start nothing; a server that does not answer soon is left out.
import { z } from "zod";
import { callProvider, providerFault } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";
import { modelsIn } from "./graph.ts";

const ADDRESS = "https?://[^,\\s]+";

export const ComfyuiEnv = z.object({
  COMFYUI_URLS: z
    .string()
    .regex(new RegExp(`^${ADDRESS}(\\s*,\\s*${ADDRESS})*$`))
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

/** Every job is sent in this name, so that one line to a server carries the news of all of ours. */
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

type Question<Reply> = Omit<Parameters<typeof callProvider<Reply>>[1], "origin" | "url" | "headers"> & { path: string };

/** Free unless the question says otherwise: only one of all requests starts work. */
export const callComfyui = <Reply>(context: ComfyuiContext, server: string, { path, ...question }: Question<Reply>) =>
  callProvider(context, {
    origin: server,
    url: `${server}${path}`,
    headers: credentials(context.env),
    hasNoSideEffects: true,
    ...question,
  });

/** Number, id and graph come first in an entry. */
const Entry = z.tuple([z.number(), z.string(), z.unknown()], z.unknown());
export const ComfyuiQueue = z.object({ queue_running: z.array(Entry), queue_pending: z.array(Entry) });
const LastDone = z.record(z.string(), z.object({ prompt: Entry }));

export type ServerRequirements = { models: string[]; files: { folder: string; file: string }[] };
type Standing = { server: string; waiting: number; isWarm: boolean; hasFiles: boolean };

/** How long a server may think about a question. One that is slower would be slow with the job too. */
const SURVEY_SECONDS = 3;

/**
 * The server with the shortest queue. Loading a model takes about as long as a job, so a server whose last job used
 * other models counts as one job busier. Among equals the key decides: many jobs at once do not all go to the same.
 */
export async function chooseServer(
  context: ComfyuiContext,
  needs: ServerRequirements,
  tieBreak: (server: string) => string,
) {
  const servers = serversOf(context.env);
  if (servers.length === 1) return servers[0]!;
  const answers = await Promise.allSettled(servers.map((server) => soon(survey(context, server, needs))));
  const standing = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const lost = answers.find((answer) => answer.status === "rejected");
  if (standing.length === 0) throw lost!.reason;
  const able = standing.filter(({ hasFiles }) => hasFiles);
  const cost = ({ waiting, isWarm }: Standing) => waiting + (isWarm ? 0 : 1);
  const [best] = (able.length > 0 ? able : standing).sort(
    (a, b) => cost(a) - cost(b) || tieBreak(a.server).localeCompare(tieBreak(b.server)),
  );
  return best!.server;
}

async function survey(
  context: ComfyuiContext,
  server: string,
  { models, files }: ServerRequirements,
): Promise<Standing> {
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

/** What lies in one of the server's folders of models; nothing where it does not know this folder. */
async function filesIn(context: ComfyuiContext, server: string, folder: string): Promise<string[] | undefined> {
  const path = `/models/${encodeURIComponent(folder)}`;
  return callComfyui(context, server, { path, reply: z.array(z.string()) }).catch(() => undefined);
}

async function soon<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = () =>
      reject(providerFault("provider_error", { kind: "unsent", cause: "a server did not answer soon" }));
    timer = setTimeout(tooLate, SURVEY_SECONDS * 1000);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
