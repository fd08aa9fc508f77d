// Forwards one event: fetches the signed message, posts it to the local receiver and reports the result. An event is
// done when it is delivered, rejected, or out of retries. Events are not lost while the server is unreachable.
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ConnectionError, GessoError, NotFoundError, type WebhookMessage } from "@gesso/client";
import { type PostResult, postMessage } from "./post-message.ts";

export type ForwardOptions = { client: Client; listenerId: string; target: URL; retries: number; signal: AbortSignal };
export type Attempt = {
  attempt: number;
  attemptsHere: number;
  result: PostResult;
  duration_ms: number;
  retryInMs: number | undefined;
};

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;
const SERVER_RETRY_MS = 1_000;

/** Whether the message was delivered; undefined if the event no longer exists or the command is stopping. */
export async function forwardEvent(
  options: ForwardOptions,
  place: string,
  onAttempt: (message: WebhookMessage, attempt: Attempt) => void,
): Promise<boolean | undefined> {
  const { client, listenerId, target, retries, signal } = options;
  for (let attemptsHere = 1; ; attemptsHere++) {
    const message = await withServerRetry(signal, () => client.webhooks.listeners.message(listenerId, { place }));
    if (!message) return undefined;
    const { attempt } = message;
    const [started_at, startedAtMs] = [new Date().toISOString(), performance.now()];
    const response = await postMessage(target, {
      body: message.body,
      headers: message.headers as Record<string, string>,
    });
    const duration_ms = Math.round(performance.now() - startedAtMs);
    const canRetry = !signal.aborted && attemptsHere <= retries && isTransient(response);
    const retryInMs = canRetry ? Math.min(FIRST_WAIT_MS * 2 ** (attemptsHere - 1), LONGEST_WAIT_MS) : undefined;
    onAttempt(message, { attempt, attemptsHere, result: response, duration_ms, retryInMs });
    const result =
      "error" in response
        ? { status: null, error: response.error }
        : { status: response.status, response: response.text };
    await withServerRetry(signal, () =>
      client.webhooks.listeners.report(listenerId, { place, attempt, started_at, duration_ms, ...result }),
    );
    if (retryInMs === undefined) return "status" in response && response.status >= 200 && response.status < 300;
    await sleep(retryInMs, undefined, { signal }).catch(() => {});
  }
}

/** A receiver that restarts may succeed later; other 4xx responses are final. */
const isTransient = (response: PostResult) => "error" in response || response.status === 429 || response.status >= 500;

/** Retries while the server is unreachable or overloaded. Undefined on 404, or when the command is stopping. */
async function withServerRetry<T>(signal: AbortSignal, send: () => PromiseLike<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await send();
    } catch (thrown) {
      if (NotFoundError.isInstance(thrown)) return undefined;
      const { status = 0 } = GessoError.isInstance(thrown) ? thrown : {};
      const isTemporary = ConnectionError.isInstance(thrown) || status === 429 || status >= 500;
      if (!isTemporary) throw thrown;
      await sleep(SERVER_RETRY_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
    }
  }
}
