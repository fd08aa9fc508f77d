// The whole schedule on the real engine, scaled down: three receivers that never take anything get every attempt, and the
// measured times stand beside those that the pure function says.
import { waitAfter } from "../../../src/webhooks/schedule.ts";
import { callerOf } from "../../caller.ts";
import type { Finding, Report, Say } from "../../campaign.ts";
import { startWorld } from "../../world.ts";
import { startReceiver, webhookEnv } from "../receiver.ts";
import { none } from "./findings.ts";

const RECEIVERS = 3;
const ATTEMPTS = 10;
/** What sending, writing down and waking take, on a machine that does other things too. */
const SLACK_MS = 1_500;

export async function wholeSchedule(scale: number, say: Say): Promise<Report> {
  const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => startReceiver()));
  for (const receiver of receivers) receiver.answer(() => 500);
  const world = await startWorld({ env: { ...webhookEnv(...receivers), WEBHOOK_TIME_SCALE: String(scale) } });
  try {
    const caller = callerOf(world);
    const seconds = 75.6 * 3600 * 1.1 * scale + 60;
    const findings: Finding[] = [];
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
      const expected = waits.map((_, index) => waitAfter(index + 1, row.id)! * scale * 1000);
      const late = waits.map((wait, index) => wait - expected[index]!);
      notes.push(`receiver ${n + 1}, milliseconds, expected → measured: ${pairs(expected, waits)}`);
      say(notes.at(-1)!);
      const early = late.flatMap((ms, index) => (ms < -30 ? [`attempt ${index + 2} ${Math.round(ms)} ms`] : []));
      const slow = late.flatMap((ms, index) =>
        ms > Math.max(SLACK_MS, expected[index]! * 0.1) ? [`attempt ${index + 2} ${Math.round(ms)} ms late`] : [],
      );
      findings.push(none(`receiver ${n + 1}: no attempt came before its time`, early, late.length));
      findings.push(none(`receiver ${n + 1}: every attempt came at its time`, slow, late.length));
      findings.push(none(`receiver ${n + 1}: it ended as exhausted`, await endOf(caller, row.id), 1));
    }
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const more = receivers
      .filter(({ received }) => received.length !== ATTEMPTS)
      .map(({ received }) => `${received.length}`);
    findings.push(none("ten attempts were made and no more", more, RECEIVERS));
    return { name: `the whole schedule at ${scale} of its time`, findings, notes: [] };
  } finally {
    await world.stop();
    await Promise.all(receivers.map((each) => each.close()));
  }
}

const pairs = (expected: number[], measured: number[]) =>
  expected.map((ms, index) => `${Math.round(ms)} → ${measured[index]}`).join(", ");

async function endOf(caller: ReturnType<typeof callerOf>, id: string): Promise<string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const { status, attempts } = (await caller.get(`/webhooks/deliveries/${id}`)).body;
    if (status === "exhausted" && attempts === ATTEMPTS) return [];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { status, attempts } = (await caller.get(`/webhooks/deliveries/${id}`)).body;
  return [`${status} after ${attempts}`];
}
