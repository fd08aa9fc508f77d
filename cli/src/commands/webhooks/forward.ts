// Forwards one event: fetches the signed message, posts it to the local receiver and reports the result. An event is done
// when it is delivered, rejected, or out of retries. Events are not lost while the server is unreachable.
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

/** Undefined: there is nothing to tell any more. Otherwise whether it arrived. */
export async function forwardEvent(
  passing: ForwardOptions,
  place: string,
  onAttempt: (message: WebhookMessage, attempt: Attempt) => void,
): Promise<boolean | undefined> {
  const { client, listenerId, target, retries, signal } = passing;
  for (let tried = 1; ; tried++) {
    const message = await withServerRetry(signal, () => client.webhooks.listeners.message(listenerId, { place }));
    if (!message) return undefined;
    const { attempt } = message;
    const [started_at, beginning] = [new Date().toISOString(), performance.now()];
    const answer = await postMessage(target, {
      body: message.body,
      headers: message.headers as Record<string, string>,
    });
    const duration_ms = Math.round(performance.now() - beginning);
    const mayGoAgain = !signal.aborted && tried <= retries && isTransient(answer);
    const againMs = mayGoAgain ? Math.min(FIRST_WAIT_MS * 2 ** (tried - 1), LONGEST_WAIT_MS) : undefined;
    onAttempt(message, { attempt, attemptsHere: tried, result: answer, duration_ms, retryInMs: againMs });
    const result =
      "error" in answer ? { status: null, error: answer.error } : { status: answer.status, response: answer.text };
    await withServerRetry(signal, () =>
      client.webhooks.listeners.report(listenerId, { place, attempt, started_at, duration_ms, ...result }),
    );
    if (againMs === undefined) return "status" in answer && answer.status >= 200 && answer.status < 300;
    await sleep(againMs, undefined, { signal }).catch(() => {});
  }
}

/** A receiver that is being started again; one that says no means it. */
const isTransient = (answer: PostResult) => "error" in answer || answer.status === 429 || answer.status >= 500;

/** Undefined: it is not there, or we are to stop. A server that does not answer is asked until it does. */
async function withServerRetry<T>(signal: AbortSignal, ask: () => PromiseLike<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (NotFoundError.isInstance(thrown)) return undefined;
      const { status = 0 } = GessoError.isInstance(thrown) ? thrown : {};
      const mayPass = ConnectionError.isInstance(thrown) || status === 429 || status >= 500;
      if (!mayPass) throw thrown;
      await sleep(SERVER_RETRY_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
    }
  }
}
