// The whole retry schedule on the real engine, scaled down: three receivers that never accept get every attempt, and
// the measured times are compared with the computed ones.
import { retryDelaySeconds } from "../../../src/webhooks/retry-schedule.ts";
import { createHttpCaller } from "../../support/api-caller.ts";
import type { CampaignReport, CheckResult, Log } from "../../support/campaign.ts";
import { startTestEnvironment } from "../../support/test-environment.ts";
import { startWebhookReceiver, webhookEnv } from "../receiver.ts";
import { expectNone } from "./check-results.ts";

const RECEIVERS = 3;
const ATTEMPTS = 10;
/** Time for sending, storing and waking on a loaded machine. */
const TOLERANCE_MS = 1_500;

export async function retryScheduleCampaign(scale: number, log: Log): Promise<CampaignReport> {
  const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => startWebhookReceiver()));
  for (const receiver of receivers) receiver.respondWith(() => 500);
  const environment = await startTestEnvironment({
    env: { ...webhookEnv(...receivers), WEBHOOK_TIME_SCALE: String(scale) },
  });
  try {
    const caller = createHttpCaller(environment);
    const seconds = 75.6 * 3600 * 1.1 * scale + 60;
    const findings: CheckResult[] = [];
    const notes: string[] = [];
    const runs = await Promise.all(
      receivers.map(
        async ({ url }) =>
          (await caller.generate({ prompt: "x", width: 64, height: 64, webhook_url: url })).body.run_id,
      ),
    );
    for (const [n, receiver] of receivers.entries()) {
      const messages = await receiver.got(ATTEMPTS, undefined, seconds);
      const [row] = (await caller.get(`/webhooks/deliveries?run_id=${runs[n]}`)).body.data;
      const waits = messages.slice(1).map(({ at }, index) => at - messages[index]!.at);
      const expected = waits.map((_, index) => retryDelaySeconds(index + 1, row.id)! * scale * 1000);
      const late = waits.map((wait, index) => wait - expected[index]!);
      notes.push(`receiver ${n + 1}, milliseconds, expected → measured: ${pairs(expected, waits)}`);
      log(notes.at(-1)!);
      const early = late.flatMap((ms, index) => (ms < -30 ? [`attempt ${index + 2} ${Math.round(ms)} ms`] : []));
      const slow = late.flatMap((ms, index) =>
        ms > Math.max(TOLERANCE_MS, expected[index]! * 0.1) ? [`attempt ${index + 2} ${Math.round(ms)} ms late`] : [],
      );
      findings.push(expectNone(`receiver ${n + 1}: no attempt came before its time`, early, late.length));
      findings.push(expectNone(`receiver ${n + 1}: every attempt came at its time`, slow, late.length));
      findings.push(expectNone(`receiver ${n + 1}: it ended as exhausted`, await endOf(caller, row.id), 1));
    }
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const more = receivers
      .filter(({ received }) => received.length !== ATTEMPTS)
      .map(({ received }) => `${received.length}`);
    findings.push(expectNone("ten attempts were made and no more", more, RECEIVERS));
    return { name: `the whole schedule at ${scale} of its time`, results: findings, notes: [] };
  } finally {
    await environment.stop();
    await Promise.all(receivers.map((each) => each.close()));
  }
}

const pairs = (expected: number[], measured: number[]) =>
  expected.map((ms, index) => `${Math.round(ms)} → ${measured[index]}`).join(", ");

async function endOf(caller: ReturnType<typeof createHttpCaller>, id: string): Promise<string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const { status, attempts } = (await caller.get(`/webhooks/deliveries/${id}`)).body;
    if (status === "exhausted" && attempts === ATTEMPTS) return [];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { status, attempts } = (await caller.get(`/webhooks/deliveries/${id}`)).body;
  return [`${status} after ${attempts}`];
}
