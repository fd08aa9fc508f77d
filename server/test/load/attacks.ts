// `npm run proof -- attacks`: one tenant posts 50 runs a second while another attacks with wide, deep, huge and slow
// bodies, decoder bombs, slow readers, unknown keys and large files, one after the other. The healthy tenant is never
// refused, and the memory of the API process is bounded. Its requests should take at most three times as long as
// without attacks, except for the attacks that SLOWER names: this is recorded, and counts with `--speed`. How long
// requests over new connections take is printed. `--short` is the version for CI; `--only wide,deep` runs some of the
// attacks; `--profile FOLDER` writes a CPU profile of the API.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureCpu } from "../bench/cpu.ts";
import { percentile } from "../bench/full-service.ts";
import { type CheckResult, recordSpeed } from "../support/check-result.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import type { HealthyWindow } from "./healthy-clients.ts";

const { short, only, profile, speed } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string" },
    profile: { type: "string" },
    speed: { type: "boolean", default: false },
    // Every campaign takes a seed; this one has no random choices.
    seed: { type: "string" },
  },
}).values;

const ATTACKS = {
  wide: "bodies of 20,000 and 60,000 values",
  deep: "bodies of 10,000 to 300,000 levels",
  huge: "bodies of 1, 34 and 36 MiB",
  slow: "1,000 slow bodies and headers",
  bombs: "decoder bombs",
  readers: "1,000 slow readers",
  keys: "10,000 unknown keys",
  files: `${short ? 60 : 200} files of 20 MB at a time`,
};
/** Attacks that make healthy requests slower than three times: why, and their own bound. */
const SLOWER: Partial<Record<string, { reason: string; maxMs: number }>> = {
  [ATTACKS.huge]: { reason: "JSON.parse of a body of 34 MiB blocks the event loop for half a second", maxMs: 1500 },
  [ATTACKS.slow]: { reason: "the process accepts a thousand connections in about a second", maxMs: 2000 },
  [ATTACKS.readers]: {
    reason: "the process accepts and answers a thousand requests in about four seconds",
    maxMs: 5000,
  },
  [ATTACKS.files]: { reason: "the process receives and hashes gigabytes", maxMs: 5000 },
};
const PER_SECOND = 50;
const MAX_RATIO = 3;
/** The API process, with all bodies that one tenant may have in memory (TENANT_BODY_MEGABYTES) read and parsed. */
const MAX_MEGABYTES = 1024;

const [warmUpSeconds, idleSeconds, attackSeconds] = short ? [2, 2, 4] : [10, 10, 25];
const selected = Object.entries(ATTACKS).filter(([name]) => only?.split(",").includes(name) ?? true);

const forkClient = (file: string, args: string[]): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });

const receive = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number) => reject(new Error(`a client exited with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as T);
    });
  });

/** Samples the resident memory of a process; `takeMax` returns the maximum since its last call, in megabytes. */
function sampleMemory(pid: number): { takeMax(): number; stop(): void } {
  let max = 0;
  const sample = () => {
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    max = Math.max(max, kilobytes / 1024);
  };
  const timer = setInterval(sample, 100);
  return {
    takeMax() {
      sample();
      const reported = max;
      max = 0;
      return reported;
    },
    stop: () => clearInterval(timer),
  };
}

const environment = await startTestEnvironment({
  roles: "split",
  // With thumbnails, the healthy runs alone would fill a machine of two processors.
  env: { LOG_LEVEL: "error", THUMBNAILS: "false" },
  processEnv: async (name): Promise<Record<string, string>> =>
    profile && name === "api" ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } : {},
});
const problems: string[] = [];
const figures: CheckResult[] = [];
try {
  const [healthy, attacker] = [await createTestTenant(environment), await createTestTenant(environment)];
  const client = forkClient("./healthy-clients.ts", [environment.url, healthy.key, String(PER_SECOND)]);
  const endWindow = async (): Promise<HealthyWindow> => {
    client.send("end");
    return receive<HealthyWindow>(client);
  };
  const memory = sampleMemory(environment.pids().api!);
  const idleP99: number[] = [];
  const print = (cells: string[]) =>
    console.log([cells[0]!.padEnd(36), ...cells.slice(1, -1).map((each) => each.padStart(9)), cells.at(-1)].join("  "));
  const describeWindow = (name: string, { ms, newConnectionMs, refused }: HealthyWindow, attacked: string) => {
    const p99 = percentile(ms, 0.99);
    const ratio = attacked ? `${(p99 / percentile(idleP99, 0.5)).toFixed(2)}×` : "";
    const megabytes = memory.takeMax();
    const times = [percentile(ms, 0.5), p99].map((each) => each.toFixed(1));
    print([name, String(ms.length), ...times, ratio, String(refused.length), `${megabytes.toFixed(0)} MB`, attacked]);
    if (attacked) console.log(`    over new connections: at most ${Math.max(...newConnectionMs).toFixed(0)} ms`);
    for (const each of [...new Set(refused)].slice(0, 3)) console.log(`    refused: ${each}`);
    if (refused.length > 0) problems.push(`${name}: ${refused.length} healthy requests refused`);
    if (megabytes > MAX_MEGABYTES) problems.push(`${name}: the API process had ${megabytes.toFixed(0)} MB`);
    return p99;
  };
  const measureIdle = async (isFirst = false) => {
    // What an attack left behind ends first.
    await pause(isFirst ? warmUpSeconds * 1000 : 1000);
    await endWindow();
    memory.takeMax();
    await pause(idleSeconds * 1000);
    idleP99.push(describeWindow("idle", await endWindow(), ""));
  };

  print(["", "requests", "p50 ms", "p99 ms", "of idle", "refused", "API", "responses to the attacker"]);
  await measureIdle(true);
  const measureAttack = async (name: string, description: string): Promise<number> => {
    const attack = forkClient("./attack-clients.ts", [environment.url, attacker.key, name, String(attackSeconds)]);
    await receive(attack);
    await measureIdle();
    const pids = { ...environment.pids(), healthy: client.pid!, attacker: attack.pid! };
    const startedAt = performance.now();
    const { result: responses, cpu } = await measureCpu(pids, async () => {
      attack.send("attack");
      return receive<Record<string, number>>(attack);
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const shares = Object.entries(cpu).map(([part, used]) => `${part} ${((100 * used) / seconds).toFixed(0)} %`);
    const p99 = describeWindow(description, await endWindow(), JSON.stringify(responses));
    console.log(
      `    CPU over ${seconds.toFixed(1)} s: ${shares.join(", ")}; load of the machine ${loadavg()[0]!.toFixed(1)}`,
    );
    return p99;
  };
  const attackP99 = new Map<string, number>();
  for (const [name, description] of selected) attackP99.set(name, await measureAttack(name, description));
  await measureIdle();
  const idle = percentile(idleP99, 0.5);
  for (const [name, description] of selected) {
    const known = SLOWER[description];
    const p99 = attackP99.get(name)!;
    const observed = `p99 ${p99.toFixed(0)} ms, ${(p99 / idle).toFixed(2)}× of idle`;
    const passed = p99 <= Math.max(MAX_RATIO * idle, known?.maxMs ?? 0);
    const invariant = `requests beside ${description} take at most ${known ? `${known.maxMs} ms` : `${MAX_RATIO}×`}`;
    figures.push({ kind: "speed", invariant, passed, observed });
    if (known && p99 > MAX_RATIO * idle) console.log(`slower  ${description}: ${observed}: ${known.reason}`);
    if (!passed && speed) problems.push(`${invariant}: ${observed}`);
  }
  console.log(`idle p99, median of ${idleP99.length} windows: ${idle.toFixed(1)} ms`);
  client.disconnect();
  memory.stop();
} finally {
  await environment.stop();
}
recordSpeed("attacks", figures);
for (const problem of problems) console.log(`FAILED  ${problem}`);
console.log(problems.length === 0 ? "attacks: passed" : `attacks: ${problems.length} promises broken`);
process.exit(problems.length === 0 ? 0 : 1);
