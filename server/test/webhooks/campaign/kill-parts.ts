// Kills the parts that webhook delivery needs, one after the other: the workers, the engine, the database, and both
// workers at the moment when the cursor of the fan-out has moved.
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../../support/campaign.ts";
import type { TestEnvironment } from "../../support/test-environment.ts";

const PARTS = ["worker", "fan_out", "worker2", "restate", "fan_out", "postgres"] as const;
const CURSOR_POLL_MS = 10;
const CURSOR_SECONDS = 10;

/** From the kill until the part responds again. */
export type PartKill = { part: (typeof PARTS)[number]; from: number; to: number };

export async function killParts(
  environment: TestEnvironment,
  wanted: number,
  isBusy: () => boolean,
  log: Log,
): Promise<PartKill[]> {
  const kills: PartKill[] = [];
  while (kills.length < wanted || isBusy()) {
    if (kills.length >= wanted) {
      await pause(200);
      continue;
    }
    await pause(300 + Math.random() * 1200);
    const part = PARTS[kills.length % PARTS.length]!;
    if (part === "fan_out") await untilCursorMoves(environment);
    const from = Date.now();
    const downMs = Math.random() < 0.5 ? 0 : Math.random() * 800;
    if (part === "fan_out") {
      // Only one worker leads the fan-out, and any of them may be the one.
      await Promise.all([environment.kill("worker"), environment.kill("worker2")]);
      await Promise.all([environment.start("worker"), environment.start("worker2")]);
    } else await environment.killAndRestart(part, downMs);
    kills.push({ part, from, to: Date.now() });
    if (kills.length % 10 === 0) log(`${kills.length} kills`);
  }
  return kills;
}

/** Resolves as soon as a transaction that moved the cursor is visible, or after a while if no event comes. */
async function untilCursorMoves(environment: TestEnvironment): Promise<void> {
  const read = async () =>
    JSON.stringify(await environment.query("select xact, seq from webhook_cursor").catch(() => undefined));
  const before = await read();
  for (const until = Date.now() + CURSOR_SECONDS * 1000; Date.now() < until; await pause(CURSOR_POLL_MS))
    if ((await read()) !== before) return;
}
