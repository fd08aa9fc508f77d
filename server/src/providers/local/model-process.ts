// Runs a model in an isolated process of its own: a crash, hang or excessive memory use fails only one job. The process
// starts with the first job, does one job at a time, and ends when idle.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { chooseSandbox } from "../../files/images/choose-sandbox.ts";
import type { DecoderProcess } from "../../files/images/decoder-process.ts";
import type { DecoderMessage } from "../../files/images/decoder-protocol.ts";
import { decoderSandboxProfiles, describeIsolationProblem } from "../../files/images/decoder-sandbox.ts";
import { joinParts } from "../../files/images/pixel-tasks.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { jobFailed, providerFault } from "../call-provider.ts";
import { exceedsLimit, HOLE_TOO_LARGE, rejectInput } from "./local-task.ts";

export type ModelName = "isnet" | "telea" | "esrgan";
export type LocalModelTask = {
  image: Uint8Array;
  mask: Uint8Array | undefined;
  options: JsonObject;
  /** Maximum pixels of the rectangle around the masked area. */
  mostMaskedPixels?: number | undefined;
};
/** A loaded model: image in, image out. */
export type OpenModel = (request: LocalModelTask) => Promise<Uint8Array>;

export type ModelLimits = {
  /** Limit of the JavaScript heap, which Node enforces. */
  heapMegabytes: number;
  /** Limit of the whole process memory, checked from outside. */
  mostMegabytes: number;
  /** Maximum wait of a job before it starts, so that a started job has time to finish. */
  waitSeconds: number;
  idleSeconds: number;
};

const PROGRAM = fileURLToPath(new URL("./isolated/model-worker.ts", import.meta.url));
const watchMilliseconds = 250;

type ModelProcessOptions = {
  program?: string;
  folder: string;
  limits: ModelLimits;
  isWeakAllowed?: boolean;
  clock?: Clock;
};

export function createModelProcess(name: ModelName, options: ModelProcessOptions) {
  const { program = PROGRAM, folder, limits, isWeakAllowed = false, clock = systemClock } = options;
  let model: DecoderProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let idle: Timer | undefined;

  const start = async (): Promise<DecoderProcess> => {
    const profiles = decoderSandboxProfiles({
      megabytes: limits.mostMegabytes,
      heapMegabytes: limits.heapMegabytes,
      program,
      programArguments: [name, folder],
      readable: [folder],
      // A job must end within its submission timeout, also on a busy machine.
      keepsPriority: true,
    });
    const chosen = await chooseSandbox(profiles, clock);
    const problem = describeIsolationProblem(chosen?.sandbox);
    if (chosen && (!problem || isWeakAllowed)) return chosen.first;
    chosen?.first.end();
    throw jobFailed(problem);
  };

  const end = () => {
    model?.end();
    model = undefined;
  };

  const perform = async (request: LocalModelTask, seconds: number): Promise<Uint8Array> => {
    idle?.stop();
    model ??= await start();
    try {
      const reply = await requestWithin(model, request, { seconds, mostMegabytes: limits.mostMegabytes, clock });
      // A process without a reply is not used again.
      if (reply instanceof Error) end();
      return readReply(reply);
    } finally {
      idle = clock.after(limits.idleSeconds * 1000, end).unref();
    }
  };

  return {
    /** Waiting and work together take at most this many seconds. */
    async perform(request: LocalModelTask, seconds: number): Promise<Uint8Array> {
      const beginning = clock.monotonic();
      const before = last;
      let leave = () => {};
      last = new Promise<void>((done) => {
        leave = done;
      }).then(() => before);
      try {
        await turn(before, Math.min(limits.waitSeconds, seconds / 2), clock);
        return await perform(request, seconds - (clock.monotonic() - beginning) / 1000);
      } finally {
        leave();
      }
    },
    end,
    /** For tests. */
    pid: () => model?.pid,
  };
}

async function turn(before: Promise<unknown>, seconds: number, clock: Clock): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<"too long">();
  const timer = clock.after(seconds * 1000, () => resolve("too long"));
  const first = await Promise.race([before, tooLong]);
  timer.stop();
  if (first === "too long") {
    throw providerFault("provider_error", {
      kind: "busy",
      retryAfterSeconds: seconds,
      cause: "another job is running",
    });
  }
}

const OUT_OF_MEMORY = /out of memory|allocation failed|bad_alloc|cannot allocate memory/i;

type ModelTaskLimits = { seconds: number; mostMegabytes: number; clock: Clock };

/** The reply of the process, or why there is none. */
async function requestWithin(
  model: DecoderProcess,
  { image, mask, ...header }: LocalModelTask,
  { seconds, mostMegabytes, clock }: ModelTaskLimits,
): Promise<DecoderMessage | Error> {
  const { promise: excess, resolve } = Promise.withResolvers<"excess">();
  const watch = clock.every(watchMilliseconds, () => {
    if (megabytesOf(model.pid) > mostMegabytes) resolve("excess");
  });
  const request = joinParts(header, mask ? [image, mask] : [image]);
  const reply = await Promise.race([model.request(request, seconds), excess]);
  watch.stop();
  const errorOutput = reply === "died" ? model.stderrTail() : "";
  // The limit of the process itself can end it before the next look from outside.
  if (reply === "excess" || OUT_OF_MEMORY.test(errorOutput)) return jobFailed(`needed more than ${mostMegabytes} MB`);
  if (reply === "died") return jobFailed(`the process ended: ${errorOutput}`);
  if (reply === "timeout") {
    return providerFault("provider_timeout", { kind: "failed", cause: "the model took too long" });
  }
  return reply;
}

/** The reply is untrusted: the reason of a refusal can only be a short name. */
function readReply(reply: DecoderMessage | Error): Uint8Array {
  if (reply instanceof Error) throw reply;
  const { refused, failed } = reply.header;
  if (refused === HOLE_TOO_LARGE) throw exceedsLimit(HOLE_TOO_LARGE);
  if (typeof refused === "string") throw rejectInput(/^[a-z_ ]{1,40}$/.test(refused) ? refused : "model");
  if (failed !== undefined) throw jobFailed(String(failed));
  return reply.bytes;
}

/** Only Linux reports it from outside; on other systems only the heap limit applies. */
function megabytesOf(pid: number | undefined): number {
  try {
    const [, resident] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(resident ?? 0) / 1024;
  } catch {
    return 0;
  }
}
