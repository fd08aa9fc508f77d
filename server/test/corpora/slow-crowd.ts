// What a crowd of slow senders does to everybody else: how long each of them is borne, how quick healthy uploads are beside
// them and without them, and what they leave behind.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { callerOf } from "../caller.ts";
import type { World } from "../world.ts";

const SENDERS = fileURLToPath(new URL("./slow-senders.ts", import.meta.url));
/** A crowd that arrives in one moment is busy with arriving; what is asked here is what it costs while it is held. */
const ARRIVAL_MS = 2500;

export type Crowd = {
  /** Sorted: after how long each was cut off. */
  seconds: number[];
  /** What they were told, and how many of them. */
  answers: Record<string, number>;
  /** Sorted, in milliseconds. */
  beside: number[];
  alone: number[];
  /** Files and connections that the service holds open more than before. */
  leftOpen(): number;
};

export async function slowCrowd(world: World, many: number, measureMs: number): Promise<Crowd> {
  const openFiles = () => readdirSync(`/proc/${world.pids().api}/fd`).length;
  const upload = await healthyUploads(world);
  await upload(1000);
  const before = openFiles();
  // Somebody else sends, so that what is measured here is the service and not the sender.
  const child = fork(SENDERS, [world.url, world.key, String(many)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  await once(child, "message");
  const told = once(child, "message");
  await sleep(ARRIVAL_MS);
  const beside = await upload(measureMs);
  const [{ seconds, answers }] = (await told) as [Pick<Crowd, "seconds" | "answers">];
  return { seconds, answers, beside, alone: await upload(measureMs), leftOpen: () => openFiles() - before };
}

export const p99 = (sorted: number[]): number => Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN);

export const tellCrowd = ({ seconds, answers, beside, alone }: Crowd): string =>
  `${seconds.length} slow uploads cut after ${seconds[0]?.toFixed(1)} to ${seconds.at(-1)?.toFixed(1)} s, ` +
  `${JSON.stringify(answers)}; healthy p99 beside them ${p99(beside)} ms of ${beside.length}, ` +
  `alone ${p99(alone)} ms of ${alone.length}`;

async function healthyUploads(world: World) {
  const caller = callerOf(world);
  const picture = sharp({ create: { width: 32, height: 32, channels: 3, background: "teal" } });
  const bytes = new Uint8Array(await picture.png().toBuffer());
  return async (ms: number): Promise<number[]> => {
    const times: number[] = [];
    for (const end = performance.now() + ms; performance.now() < end; ) {
      const form = new FormData();
      form.append("file", new Blob([bytes]), "a.png");
      const before = performance.now();
      const { status } = await caller.post("/upload", form);
      if (status !== 201) throw new Error(`a healthy upload was answered with ${status}`);
      times.push(performance.now() - before);
      await sleep(20);
    }
    return times.sort((a, b) => a - b);
  };
}
