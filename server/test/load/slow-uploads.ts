// Measures the effect of many slow uploads: when each is cut off, the latency of healthy uploads with and without them,
// and leaked file descriptors.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { createHttpCaller } from "../support/api-caller.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

const SENDERS = fileURLToPath(new URL("./slow-upload-clients.ts", import.meta.url));
/** Many clients that connect at once are expensive to accept; this measures the cost while they are open. */
const ARRIVAL_MS = 2500;

export type SlowUploadReport = {
  /** Sorted: after how long each was cut off. */
  seconds: number[];
  /** The responses, and how many of each. */
  responses: Record<string, number>;
  /** Sorted, in milliseconds. */
  healthyDuring: number[];
  healthyAlone: number[];
  /** Files and connections that the service holds open more than before. */
  leftOpen(): number;
};

export async function measureSlowUploads(
  environment: TestEnvironment,
  many: number,
  measureMs: number,
): Promise<SlowUploadReport> {
  const openFiles = () => readdirSync(`/proc/${environment.pids().api}/fd`).length;
  const upload = await healthyUploads(environment);
  await upload(1000);
  const before = openFiles();
  // Another process sends, so that the measurement shows the service and not the sender.
  const child = fork(SENDERS, [environment.url, environment.key, String(many)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await once(child, "message");
  const reported = once(child, "message");
  await sleep(ARRIVAL_MS);
  const beside = await upload(measureMs);
  const [{ seconds, responses: replies }] = (await reported) as [Pick<SlowUploadReport, "seconds" | "responses">];
  return {
    seconds,
    responses: replies,
    healthyDuring: beside,
    healthyAlone: await upload(measureMs),
    leftOpen: () => openFiles() - before,
  };
}

export const p99 = (sorted: number[]): number => Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN);

export const describeSlowUploads = ({
  seconds,
  responses: replies,
  healthyDuring: beside,
  healthyAlone: alone,
}: SlowUploadReport): string =>
  `${seconds.length} slow uploads cut after ${seconds[0]?.toFixed(1)} to ${seconds.at(-1)?.toFixed(1)} s, ` +
  `${JSON.stringify(replies)}; healthy p99 beside them ${p99(beside)} ms of ${beside.length}, ` +
  `alone ${p99(alone)} ms of ${alone.length}`;

async function healthyUploads(environment: TestEnvironment) {
  const caller = createHttpCaller(environment);
  const image = sharp({ create: { width: 32, height: 32, channels: 3, background: "teal" } });
  const bytes = new Uint8Array(await image.png().toBuffer());
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
