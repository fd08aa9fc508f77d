// Keeps one LISTEN connection to PostgreSQL open. At most one connection attempt is in progress at any time, and failed
// attempts back off exponentially with jitter. A heartbeat detects a server that vanished without closing the
// connection.
import pg from "pg";
import type { Clock } from "../runtime/clock.ts";
import { type Backoff, backoffMs } from "../runtime/retry.ts";

type Listener = {
  url: string;
  channel: string;
  /** Number of an advisory lock to hold while connected. A lock that is free tells others that this process died. */
  lock?: number | undefined;
  /** An empty payload means that notifications may have been missed: the subscriber must look for itself. */
  onNotification(payload: string): void;
  clock: Pick<Clock, "sleep" | "after">;
  random(): number;
  timing?: ListenTiming;
};

type ListenTiming = { heartbeatMs: number; timeoutMs: number; backoff: Backoff };

const DEFAULT_TIMING: ListenTiming = { heartbeatMs: 5000, timeoutMs: 5000, backoff: { firstMs: 100, maxMs: 5000 } };

/** Resolves after the first connection attempt, successful or not. The result closes the connection for good. */
export async function listen(listener: Listener): Promise<() => Promise<void>> {
  const { backoff } = listener.timing ?? DEFAULT_TIMING;
  const closing = new AbortController();
  let client: pg.Client | undefined;

  const connectOnce = async (isReady: () => void): Promise<boolean> => {
    client = createClient(listener);
    const lost = Promise.race([connectionEnd(client), abortOf(closing.signal)]);
    try {
      await client.connect();
      await client.query(`listen ${listener.channel}`);
      if (listener.lock) await client.query("select pg_try_advisory_lock($1)", [listener.lock]);
      isReady();
      listener.onNotification("");
      await stayConnected(client, lost, listener);
      return true;
    } catch {
      return false;
    } finally {
      discard(client);
    }
  };

  const keepConnected = async (isReady: () => void): Promise<void> => {
    for (let failures = 0; !closing.signal.aborted; ) {
      const wasConnected = await connectOnce(isReady);
      isReady();
      failures = wasConnected ? 0 : failures + 1;
      const delayMs = backoffMs({ ...backoff, random: listener.random }, failures);
      await listener.clock.sleep(delayMs, closing.signal).catch(() => {});
    }
  };

  let loop: Promise<void> | undefined;
  await new Promise<void>((isReady) => {
    loop = keepConnected(isReady);
  });
  return async () => {
    closing.abort();
    if (client) discard(client);
    await loop;
  };
}

function createClient({ url, timing = DEFAULT_TIMING, onNotification }: Listener): pg.Client {
  const { timeoutMs } = timing;
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on("error", () => {});
  client.on("notification", (message) => onNotification(message.payload ?? ""));
  return client;
}

/** Returns when the connection has ended; throws when the heartbeat gets no response in time. */
async function stayConnected(client: pg.Client, lost: Promise<"lost">, { clock, timing = DEFAULT_TIMING }: Listener) {
  for (;;) {
    const { promise: due, resolve } = Promise.withResolvers<"due">();
    const timer = clock.after(timing.heartbeatMs, () => resolve("due"));
    const next = await Promise.race([lost, due]);
    timer.stop();
    if (next === "lost") return;
    await Promise.race([lost, client.query("select 1")]);
  }
}

const connectionEnd = (client: pg.Client) =>
  new Promise<"lost">((resolve) => {
    client.once("end", () => resolve("lost"));
  });

const abortOf = (signal: AbortSignal) =>
  new Promise<"lost">((resolve) => {
    signal.addEventListener("abort", () => resolve("lost"), { once: true });
  });

/** Closes the socket at once: a polite end would wait for a server that may be gone. */
function discard(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
