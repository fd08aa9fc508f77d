// Listens to the servers' own news, over one line to each. It tells how far a job is, and when it is worth looking: a
// server says that nothing runs any more only after the job's results can be read.
import type { JobNotification } from "../provider.ts";
import { CLIENT_ID, type ComfyuiEnv, credentials, serversOf } from "./pool.ts";

/** How much of a job lies before and behind these nodes of our graphs, because most of the time is spent in them. */
const SHARES: Record<string, [from: number, to: number]> = {
  sample: [0.1, 0.9],
  sample_high: [0.1, 0.5],
  sample_low: [0.5, 0.9],
};
const USUAL_SHARE: [number, number] = [0, 0.9];

/** A server that cannot be reached is tried again, with all others, when the watch is begun anew. */
const PATIENCE_MS = 5000;

/** Ends when the signal does, when a line breaks, or a little after one could not be opened. */
export async function watchServers(
  env: ComfyuiEnv,
  hear: (news: JobNotification) => void,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  if (ended.aborted) return;
  const sockets = serversOf(env).map((server) => listen(server, env, hear));
  const timers: NodeJS.Timeout[] = [];
  await new Promise<void>((resolve) => {
    ended.addEventListener("abort", () => resolve(), { once: true });
    for (const socket of sockets) {
      let wasOpen = false;
      socket.addEventListener("open", () => {
        wasOpen = true;
      });
      socket.addEventListener("close", () => {
        if (wasOpen) over.abort();
        else timers.push(setTimeout(() => over.abort(), PATIENCE_MS));
      });
    }
  });
  for (const timer of timers) clearTimeout(timer);
  for (const socket of sockets) socket.close();
}

/** Node's WebSocket takes headers; the types of browsers do not know that. */
type WithHeaders = new (url: string, options: { headers: Record<string, string> }) => WebSocket;

function listen(server: string, env: ComfyuiEnv, hear: (news: JobNotification) => void): WebSocket {
  const url = `${server.replace(/^http/, "ws")}/ws?clientId=${CLIENT_ID}`;
  const socket = new (WebSocket as unknown as WithHeaders)(url, { headers: credentials(env) });
  // One job runs at a time, so one memory is enough to say nothing twice.
  let last = "";
  socket.addEventListener("message", ({ data }) => {
    // Pictures of work under way come as bytes.
    const news = typeof data === "string" ? newsIn(data) : undefined;
    if (!news || last === JSON.stringify(news)) return;
    last = JSON.stringify(news);
    hear(news);
  });
  return socket;
}

type Message = { type?: unknown; data?: Record<string, unknown> };

function newsIn(text: string): JobNotification | undefined {
  const { type, data } = parsed(text);
  if (typeof data?.prompt_id !== "string") return undefined;
  const about = { name: "prompt_id", value: data.prompt_id };
  if (type === "executing" && data.node === null) return { ...about, ended: true };
  if (type === "progress") return withProgress(about, String(data.node), data);
  if (type !== "progress_state") return undefined;
  const nodes = Object.entries((data.nodes ?? {}) as Record<string, Record<string, unknown>>);
  const [id, state] = nodes.find(([, node]) => node.state === "running" && Number(node.max) > 1) ?? [];
  return id === undefined ? undefined : withProgress(about, id, state!);
}

function withProgress(
  about: JobNotification,
  node: string,
  { value, max }: Record<string, unknown>,
): JobNotification | undefined {
  const done = Number(value) / Number(max);
  if (!(done >= 0 && done <= 1)) return undefined;
  const [from, to] = SHARES[node] ?? USUAL_SHARE;
  return { ...about, progress: Math.round((from + (to - from) * done) * 1000) / 1000 };
}

function parsed(text: string): Message {
  try {
    return (JSON.parse(text) as Message | null) ?? {};
  } catch {
    return {};
  }
}
