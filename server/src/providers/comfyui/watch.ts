// Receives progress over one WebSocket per server. A server reports an idle queue only after the results of the job
// can be read, so that report triggers a poll.
import type { Timer } from "../../runtime/clock.ts";
import type { JobNotification, NotificationChannel } from "../provider.ts";
import { CLIENT_ID, type ComfyuiEnv, credentials, serversOf } from "./pool.ts";

/** Share of the progress before and after the nodes that take most of the time. */
const SHARES: Record<string, [from: number, to: number]> = {
  sample: [0.1, 0.9],
  sample_high: [0.1, 0.5],
  sample_low: [0.5, 0.9],
};
const USUAL_SHARE: [number, number] = [0, 0.9];

/** Delay before the watch ends after a failed connection; the next watch tries all servers again. */
const PATIENCE_MS = 5000;

/**
 * A connection without any message for this long is replaced. ComfyUI removes a connection from its list when an
 * older one with the same client ID closes later, for example that of a worker that was replaced: it then stays
 * open and silent.
 */
const SILENCE_MS = 60_000;

/** How long a closing handshake may take before the next watch may open its connections. */
const CLOSE_MS = 1000;

/** Ends with the signal, when a connection breaks or stays silent, or shortly after one could not be opened. */
export async function watchServers(
  env: ComfyuiEnv,
  channel: NotificationChannel,
  silenceMs = SILENCE_MS,
): Promise<void> {
  const over = new AbortController();
  const ended = AbortSignal.any([channel.signal, over.signal]);
  if (ended.aborted) return;
  const sockets = serversOf(env).map((server) => listen(server, env, channel));
  const timers: Timer[] = [];
  await new Promise<void>((resolve) => {
    ended.addEventListener("abort", () => resolve(), { once: true });
    for (const socket of sockets) {
      let wasOpen = false;
      const endIfSilent = () => channel.clock.after(silenceMs, () => wasOpen && over.abort());
      const position = timers.push(endIfSilent()) - 1;
      socket.addEventListener("open", () => {
        wasOpen = true;
      });
      socket.addEventListener("message", () => {
        timers[position]?.stop();
        timers[position] = endIfSilent();
      });
      socket.addEventListener("close", () => {
        if (wasOpen) over.abort();
        else timers.push(channel.clock.after(PATIENCE_MS, () => over.abort()));
      });
    }
  });
  for (const timer of timers) timer.stop();
  await Promise.all(sockets.map((socket) => close(socket, channel)));
}

/** Waits for the server to close too: a connection that is opened before would be removed with this one. */
function close(socket: WebSocket, { clock }: Pick<NotificationChannel, "clock">): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const late = clock.after(CLOSE_MS, resolve);
    socket.addEventListener("close", () => {
      late.stop();
      resolve();
    });
    socket.close();
  });
}

function listen(server: string, env: ComfyuiEnv, channel: NotificationChannel): WebSocket {
  const url = `${server.replace(/^http/, "ws")}/ws?clientId=${CLIENT_ID}`;
  const socket = channel.openWebSocket(url, credentials(env));
  // A server runs one job at a time, so the last notification is enough to avoid duplicates.
  let last = "";
  socket.addEventListener("message", ({ data }) => {
    // Binary messages are preview images.
    const news = typeof data === "string" ? newsIn(data) : undefined;
    if (!news || last === JSON.stringify(news)) return;
    last = JSON.stringify(news);
    channel.onNotification(news);
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
