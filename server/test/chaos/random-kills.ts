// Kills components with -9 at random times and restarts them, never two at once, until stopped.
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessName, TestEnvironment } from "../support/test-environment.ts";

export type KillCounts = Record<ProcessName, number>;

/** Draws from a list in which important components appear more often. */
const TARGETS: ProcessName[] = ["worker", "worker", "worker2", "worker2", "api", "api", "restate", "postgres"];

export async function killRandomly(
  environment: TestEnvironment,
  isDone: (kills: KillCounts) => boolean,
  log: (line: string) => void,
): Promise<KillCounts> {
  const kills: KillCounts = { postgres: 0, restate: 0, api: 0, worker: 0, worker2: 0 };
  while (!isDone(kills)) {
    await pause(300 + Math.random() * 1500);
    const target = TARGETS[Math.floor(Math.random() * TARGETS.length)]!;
    kills[target]++;
    const start = Date.now();
    await environment.killAndRestart(target, Math.random() < 0.5 ? 0 : Math.random() * 1000);
    log(`kill ${sumKills(kills)}: ${target}, back after ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
  return kills;
}

export const sumKills = (kills: KillCounts) => Object.values(kills).reduce((sum, each) => sum + each, 0);
