// A pool of decoder processes. An image that crashes its process or exceeds the timeout fails alone. The queue is
// bounded in bytes, so that many requests cannot exhaust the memory.
import { z } from "zod";
import { Fault } from "../faults.ts";
import { type ChosenSandbox, chooseSandbox } from "./choose-sandbox.ts";
import { type DecoderProcess, startDecoderProcess } from "./decoder-process.ts";
import type { DecoderMessage } from "./decoder-protocol.ts";
import {
  type DecoderSandboxProfile,
  type DecoderSandboxStatus,
  decoderSandboxProfiles,
  listWeaknesses,
} from "./decoder-sandbox.ts";
import { undecodableImage } from "./image-structure.ts";

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
  /** Sandbox profiles, strongest first. */
  profiles?: DecoderSandboxProfile[];
  /** A process is replaced after this many images, which bounds memory leaks. */
  imagesPerProcess?: number;
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
  profiles,
  imagesPerProcess = IMAGES_PER_PROCESS,
}: DecoderPoolOptions): DecoderPool => {
  const opening = chooseSandbox(profiles ?? decoderSandboxProfiles({ megabytes }));
  const idle: DecoderProcess[] = [];
  const busy = new Set<DecoderProcess>();
  const imageCounts = new WeakMap<DecoderProcess, number>();
  const successors = new WeakMap<DecoderProcess, "starting" | "started">();
  const withSlot = createSemaphore(count);
  let queuedBytes = 0;
  let isClosed = false;
  void opening.then((found) => {
    if (found) logSandbox(found, log);
    return found && !isClosed ? idle.push(found.first) : found?.first.end();
  });

  const take = async (): Promise<DecoderProcess> => {
    const found = await opening;
    const decoder = idle.pop() ?? (found && (await startDecoderProcess(found.profile)));
    if (!decoder) throw new Fault("dependency_unavailable", { dependency: "decoder" });
    busy.add(decoder);
    return decoder;
  };
  const release = (decoder: DecoderProcess) => {
    busy.delete(decoder);
    const times = (imageCounts.get(decoder) ?? 0) + 1;
    imageCounts.set(decoder, times);
    if (isClosed || successors.get(decoder) === "started") return decoder.end();
    idle.push(decoder);
    if (times >= imagesPerProcess && !successors.has(decoder)) void replace(decoder);
  };
  /** The old process works until the new one has started, because a start takes as long as many images. */
  const replace = async (old: DecoderProcess) => {
    successors.set(old, "starting");
    const fresh = await opening.then((found) => found && startDecoderProcess(found.profile));
    // If the old process has died meanwhile, another one has been started in its place.
    const isWorking = idle.includes(old) || busy.has(old);
    if (fresh && isWorking && !isClosed) {
      successors.set(old, "started");
      idle.push(fresh);
      if (!busy.has(old)) idle.splice(idle.indexOf(old), 1)[0]?.end();
    } else {
      successors.delete(old);
      fresh?.end();
    }
  };
  const attempt = async (frame: DecoderMessage, limit: number, isLast = false): Promise<DecoderMessage> => {
    const decoder = await take();
    const reply = await decoder.request(frame, limit);
    if (typeof reply !== "string") {
      release(decoder);
      return reply;
    }
    busy.delete(decoder);
    // The process may have been killed for another reason: the image fails only if a second process dies with it too.
    if (reply === "died" && !isLast) return attempt(frame, limit, true);
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
    pids: () => [...idle, ...busy].flatMap(({ pid }) => pid ?? []),
    close: () => {
      isClosed = true;
      for (const decoder of [...idle.splice(0), ...busy]) decoder.end();
    },
  };
};

const logSandbox = ({ profile, sandbox }: ChosenSandbox, log: DecoderPoolOptions["log"]) => {
  const weaknesses = listWeaknesses(sandbox);
  const fields = { profile: profile.name, ...sandbox };
  if (weaknesses.length > 0) log?.warn({ ...fields, weaknesses }, "decoder sandbox is incomplete");
  else log?.info(fields, "decoder sandbox is active");
};

/** Runs at most `count` tasks at a time; the others wait in order, or until their time is over. */
export const createSemaphore = (count: number) => {
  let free = count;
  const waiting = new Set<() => void>();
  const waitForSlot = (seconds: number | undefined) =>
    new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(begin);
      if (seconds === undefined) return;
      timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new Fault("service_overloaded"));
      }, seconds * 1000);
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
