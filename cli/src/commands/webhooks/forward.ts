// Passes one event on: fetches the message as a webhook would get it, sends it, and reports what came of it. An event is
// left only when it has arrived, was refused, or was tried often enough; that Gesso is away for a while loses nothing.
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ConnectionError, GessoError, NotFoundError, type WebhookMessage } from "@gesso/client";
import { type Answer, post } from "./post.ts";

export type Passing = { client: Client; listenerId: string; target: URL; retries: number; signal: AbortSignal };
export type Attempt = {
  attempt: number;
  tried: number;
  answer: Answer;
  duration_ms: number;
  againMs: number | undefined;
};

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;
const AWAY_MS = 1_000;

/** Undefined: there is nothing to tell any more. Otherwise whether it arrived. */
export async function passOn(
  passing: Passing,
  place: string,
  onAttempt: (message: WebhookMessage, attempt: Attempt) => void,
): Promise<boolean | undefined> {
  const { client, listenerId, target, retries, signal } = passing;
  for (let tried = 1; ; tried++) {
    const message = await untilThere(signal, () => client.webhooks.listeners.message(listenerId, { place }));
    if (!message) return undefined;
    const { attempt } = message;
    const [started_at, beginning] = [new Date().toISOString(), performance.now()];
    const answer = await post(target, { body: message.body, headers: message.headers as Record<string, string> });
    const duration_ms = Math.round(performance.now() - beginning);
    const mayGoAgain = !signal.aborted && tried <= retries && isPassing(answer);
    const againMs = mayGoAgain ? Math.min(FIRST_WAIT_MS * 2 ** (tried - 1), LONGEST_WAIT_MS) : undefined;
    onAttempt(message, { attempt, tried, answer, duration_ms, againMs });
    const result =
      "error" in answer ? { status: null, error: answer.error } : { status: answer.status, response: answer.text };
    await untilThere(signal, () =>
      client.webhooks.listeners.report(listenerId, { place, attempt, started_at, duration_ms, ...result }),
    );
    if (againMs === undefined) return "status" in answer && answer.status >= 200 && answer.status < 300;
    await sleep(againMs, undefined, { signal }).catch(() => {});
  }
}

/** A receiver that is being started again; one that says no means it. */
const isPassing = (answer: Answer) => "error" in answer || answer.status === 429 || answer.status >= 500;

/** Undefined: it is not there, or we are to stop. A server that does not answer is asked until it does. */
async function untilThere<T>(signal: AbortSignal, ask: () => PromiseLike<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (NotFoundError.isInstance(thrown)) return undefined;
      const { status = 0 } = GessoError.isInstance(thrown) ? thrown : {};
      const mayPass = ConnectionError.isInstance(thrown) || status === 429 || status >= 500;
      if (!mayPass) throw thrown;
      await sleep(AWAY_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
    }
  }
}
