// A pool of decoder processes. An image that crashes its process or exceeds the timeout fails alone. The queue is
// bounded in bytes, so that many requests cannot exhaust the memory.
import { z } from "zod";
import { Fault } from "../../faults/faults.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { undecodableImage } from "../formats/image-structure.ts";
import { type ChosenSandbox, chooseSandbox } from "./choose-sandbox.ts";
import { createDecoderProcesses } from "./decoder-processes.ts";
import type { DecoderMessage } from "./decoder-protocol.ts";
import {
  type DecoderSandboxProfile,
  type DecoderSandboxStatus,
  decoderSandboxProfiles,
  listWeaknesses,
} from "./decoder-sandbox.ts";

export const DecoderEnv = z.object({
  DECODERS: z.coerce.number().int().min(1).max(64).default(2).describe("Number of image decoder processes"),
  DECODER_MEGABYTES: z.coerce
    .number()
    .int()
    .min(64)
    .default(1536)
    .describe("Memory limit of a decoder process, in megabytes"),
  ALLOW_WEAK_ISOLATION: z
    .stringbool()
    .default(false)
    .describe(
      "Whether the server starts although this host cannot isolate the processes that decode images. A malicious image " +
        "that takes over such a process can then reach your secrets",
    ),
  DECODER_SECONDS: z.coerce.number().positive().default(20).describe("Timeout of one decoding, in seconds"),
  THUMBNAILS: z.stringbool().default(true).describe("Whether Gesso makes thumbnails of results and uploads"),
});

export type DecoderPoolOptions = {
  count: number;
  megabytes: number;
  seconds: number;
  log?: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Called for each image that crashed or stalled its process. */
  onFailure?(): void;
  /** Sandbox profiles, strongest first. */
  profiles?: DecoderSandboxProfile[];
  /** A process is replaced after this many images, which bounds memory leaks. */
  imagesPerProcess?: number;
  clock?: Pick<Clock, "after">;
};

export type DecoderPool = {
  /** Refuses a message that waits longer than `waitSeconds`; without it, a message waits until it is its turn. */
  perform(frame: DecoderMessage, limits?: { waitSeconds?: number; seconds?: number }): Promise<DecoderMessage>;
  /** The restrictions in effect. Undefined if no process could be started. */
  sandboxStatus(): Promise<DecoderSandboxStatus | undefined>;
  /** The name of the sandbox profile that this host allows. Undefined if no process could be started. */
  profileName(): Promise<string | undefined>;
  pids(): number[];
  close(): void;
};

/** Total size of queued and running images. */
const MAX_QUEUED_BYTES = 1024 * 1024 * 1024;
const IMAGES_PER_PROCESS = 1000;

export const createDecoderPool = ({
  count,
  megabytes,
  seconds,
  log,
  onFailure,
  profiles,
  imagesPerProcess = IMAGES_PER_PROCESS,
  clock = systemClock,
}: DecoderPoolOptions): DecoderPool => {
  const opening = chooseSandbox(profiles ?? decoderSandboxProfiles({ megabytes }), clock);
  const processes = createDecoderProcesses(opening, { count, imagesPerProcess, clock });
  const withSlot = createSemaphore(count, clock);
  let queuedBytes = 0;
  void opening.then((found) => found && logSandbox(found, log));

  const attempt = async (frame: DecoderMessage, limit: number, isLast = false): Promise<DecoderMessage> => {
    const decoder = await processes.take();
    if (!decoder) throw new Fault("dependency_unavailable", { dependency: "decoder" });
    const reply = await decoder.request(frame, limit);
    if (typeof reply !== "string") {
      processes.release(decoder);
      return reply;
    }
    processes.forget(decoder);
    // The process may have been killed for another reason: the image fails only if a second process dies with it too.
    if (reply === "died" && !isLast) return attempt(frame, limit, true);
    onFailure?.();
    log?.warn({ pid: decoder.pid, reply, stderr: decoder.stderrTail() }, "image crashed its decoder");
    throw undecodableImage(reply === "timeout" ? "took too long" : "pixels", decoder.stderrTail());
  };

  return {
    perform: async (frame, limits = {}) => {
      const size = frame.bytes.byteLength;
      if (queuedBytes + size > MAX_QUEUED_BYTES) throw new Fault("service_overloaded");
      queuedBytes += size;
      try {
        return await withSlot(() => attempt(frame, limits.seconds ?? seconds), limits.waitSeconds);
      } finally {
        queuedBytes -= size;
      }
    },
    sandboxStatus: async () => (await opening)?.sandbox,
    profileName: async () => (await opening)?.profile.name,
    pids: processes.pids,
    close: processes.close,
  };
};

const logSandbox = ({ profile, sandbox }: ChosenSandbox, log: DecoderPoolOptions["log"]) => {
  const weaknesses = listWeaknesses(sandbox);
  const fields = { profile: profile.name, ...sandbox };
  if (weaknesses.length > 0) log?.warn({ ...fields, weaknesses }, "decoder sandbox is incomplete");
  else log?.info(fields, "decoder sandbox is active");
};

/** Runs at most `count` tasks at a time; the others wait in order, or until their time is over. */
export const createSemaphore = (count: number, clock: Pick<Clock, "after"> = systemClock) => {
  let free = count;
  const waiting = new Set<() => void>();
  const waitForSlot = (seconds: number | undefined) =>
    new Promise<void>((resolve, reject) => {
      let timer: Timer | undefined;
      const begin = () => {
        timer?.stop();
        resolve();
      };
      waiting.add(begin);
      if (seconds === undefined) return;
      timer = clock.after(seconds * 1000, () => {
        waiting.delete(begin);
        reject(new Fault("service_overloaded"));
      });
    });
  return async <T>(work: () => Promise<T>, waitSeconds?: number): Promise<T> => {
    if (free > 0) free--;
    else await waitForSlot(waitSeconds);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else free++;
    }
  };
};
