// One step of a delivery: whether it may be sent now, the sending, and what came of it. What the engine remembers of it is
// how long to wait; secrets are read here, used here and forgotten here.
import { expectAfter, type HeldDelivery, noteAttempt, readTurn, type Turn, takePlace } from "../db/webhook-queue.ts";
import { disableWebhook } from "../db/webhooks.ts";
import { Fault } from "../faults.ts";
import { failureWord } from "../media/post.ts";
import { headersOf } from "./headers.ts";
import { failingSeconds, type Office, paceOf } from "./office.ts";
import { type Answer, judge, type Verdict } from "./schedule.ts";
import { secretsFor } from "./secrets.ts";

export type Step = { isDone: true } | { waitSeconds: number };

const LONGEST_GATE_SECONDS = 60;
const LONGEST_BREAK_SECONDS = 300;
/** Clocks are not that exact, and neither are timers. */
const SOON_SECONDS = 0.05;

export async function attempt(office: Office, held: HeldDelivery): Promise<Step> {
  const turn = await readTurn(office.db, held);
  if (!turn?.body) return { isDone: true };
  if (turn.wait > SOON_SECONDS) return waitFor(office, held, turn.wait);
  const gate = turn.has_place ? 0 : await takePlace(office.db, held, turn, paceOf(office));
  if (gate > 0) return waitFor(office, held, Math.min(gate, LONGEST_GATE_SECONDS));
  const started_at = new Date();
  const beginning = performance.now();
  const { answer, text } = await send(office, held, { ...turn, body: turn.body });
  const duration_ms = Math.round(performance.now() - beginning);
  return settle(office, held, turn, { answer, text, started_at, duration_ms });
}

async function waitFor({ db }: Office, held: HeldDelivery, seconds: number): Promise<Step> {
  await expectAfter(db, held, seconds);
  return { waitSeconds: seconds };
}

type Sent = { answer: Answer; text: string | null };

async function send(office: Office, held: HeldDelivery, turn: Turn & { body: string }): Promise<Sent> {
  const secrets = await secretsFor(office, { ...held, ...turn }).catch(asUnreadable);
  if (!secrets) return { answer: { error: "secret_unreadable" }, text: null };
  try {
    const posted = await office.poster.post(turn.url, {
      body: turn.body,
      timeoutSeconds: office.settings.WEBHOOK_TIMEOUT_SECONDS,
      headers: headersOf(office, secrets, { ...held, ...turn, attempt: turn.attempts + 1 }),
    });
    return { answer: { status: posted.status, retryAfter: posted.retryAfter }, text: posted.text };
  } catch (thrown) {
    return { answer: { error: failureWord(thrown) }, text: null };
  }
}

/** Sealed with a key that we do not have any more: it can be tried, but nothing is sent without a signature. */
function asUnreadable(thrown: unknown): undefined {
  if (!(thrown instanceof Fault && thrown.details.reason === "secret_unreadable")) throw thrown;
}

type Done = Sent & { started_at: Date; duration_ms: number };

async function settle(office: Office, held: HeldDelivery, turn: Turn, { answer, text, ...times }: Done): Promise<Step> {
  const { settings } = office;
  const verdict = judge(answer, { ...turn, deliveryId: held.delivery_id, tried: turn.tried + 1, now: Date.now() });
  const waitSeconds = verdict.status === "pending" ? verdict.waitSeconds * settings.WEBHOOK_TIME_SCALE : undefined;
  const noted = await noteAttempt(office.db, held, {
    attempt: {
      ...{ attempt: turn.attempts + 1, ...times, response: text },
      status: "status" in answer ? answer.status : null,
      error: "error" in answer ? answer.error : null,
    },
    status: verdict.status,
    waitSeconds,
    breaker: {
      failures: settings.WEBHOOK_BREAKER_FAILURES,
      seconds: settings.WEBHOOK_BREAKER_SECONDS * settings.WEBHOOK_TIME_SCALE,
      longest: LONGEST_BREAK_SECONDS * settings.WEBHOOK_TIME_SCALE,
    },
  });
  const isFailing = (noted?.failing_for ?? 0) > failingSeconds(office);
  await switchOff(office, held, turn, { verdict, isFailing });
  return waitSeconds === undefined ? { isDone: true } : { waitSeconds };
}

/** Who says that there is nothing any more, and who has not answered for days, gets nothing more. */
async function switchOff(
  { db, newId, log }: Office,
  { tenant_id }: HeldDelivery,
  { webhook_id }: Turn,
  { verdict, isFailing }: { verdict: Verdict; isFailing: boolean },
): Promise<void> {
  const reason = "reason" in verdict && verdict.reason ? verdict.reason : isFailing ? "failing" : undefined;
  if (!webhook_id || !reason) return;
  if (await disableWebhook(db, { tenant_id, webhook_id }, reason, newId()))
    log.warn({ tenant_id, webhook_id, reason }, "a webhook was switched off");
}
