// A few processes that decode, shared by everybody who needs a picture looked at. A picture that kills its process or
// never ends costs that picture alone; what waits is bounded, so that a crowd cannot fill our memory.
import { z } from "zod";
import { Fault } from "../faults.ts";
import { type DecoderProcess, startDecoderProcess } from "./decoder-process.ts";
import type { DecoderMessage } from "./decoder-protocol.ts";
import { type DecoderSandboxProfile, type DecoderSandboxStatus, decoderSandboxProfiles } from "./decoder-sandbox.ts";
import { undecodableImage } from "./image-structure.ts";

export const DecoderEnv = z.object({
  DECODERS: z.coerce.number().int().min(1).max(64).default(2).describe("Number of image decoder processes"),
  DECODER_MEGABYTES: z.coerce
    .number()
    .int()
    .min(64)
    .default(1536)
    .describe("Memory limit of a decoder process, in megabytes"),
  DECODER_SECONDS: z.coerce.number().positive().default(20).describe("Timeout of one decoding, in seconds"),
});

export type DecoderPoolOptions = {
  count: number;
  megabytes: number;
  seconds: number;
  log?: { info(fields: object, says: string): void; warn(fields: object, says: string): void };
  /** The ways to start a process, best first. */
  profiles?: DecoderSandboxProfile[];
};

export type DecoderPool = {
  perform(frame: DecoderMessage): Promise<DecoderMessage>;
  /** What really holds around the processes. Undefined where none could be started. */
  walls(): Promise<DecoderSandboxStatus | undefined>;
  pids(): number[];
  close(): void;
};

/** Pictures that wait or are worked on, all together. */
const MAX_QUEUED_BYTES = 1024 * 1024 * 1024;
/** After so many pictures a process makes room for a new one, whatever it has leaked. */
const IMAGES_PER_PROCESS = 1000;

export const createDecoderPool = ({
  count,
  megabytes,
  seconds,
  log,
  profiles: ways,
}: DecoderPoolOptions): DecoderPool => {
  const opening = findStrongestSandbox(ways ?? decoderSandboxProfiles({ megabytes }), log);
  const idle: DecoderProcess[] = [];
  const busy = new Set<DecoderProcess>();
  const worked = new WeakMap<DecoderProcess, number>();
  const turn = createSemaphore(count);
  let heldBytes = 0;
  let isClosed = false;
  void opening.then((found) => (found && !isClosed ? idle.push(found.first) : found?.first.end()));

  const take = async (): Promise<DecoderProcess> => {
    const found = await opening;
    const decoder = idle.pop() ?? (found && (await startDecoderProcess(found.cell)));
    if (!decoder) throw new Fault("dependency_unavailable", { dependency: "decoder" });
    busy.add(decoder);
    return decoder;
  };
  const release = (decoder: DecoderProcess) => {
    busy.delete(decoder);
    const times = (worked.get(decoder) ?? 0) + 1;
    worked.set(decoder, times);
    if (isClosed || times >= IMAGES_PER_PROCESS) decoder.end();
    else idle.push(decoder);
  };
  const attempt = async (frame: DecoderMessage, isLast: boolean): Promise<DecoderMessage> => {
    const decoder = await take();
    const reply = await decoder.request(frame, seconds);
    if (typeof reply !== "string") {
      release(decoder);
      return reply;
    }
    busy.delete(decoder);
    // It may have been killed for a reason of its own, so a picture is blamed only when a second process dies of it too.
    if (reply === "died" && !isLast) return attempt(frame, true);
    log?.warn({ pid: decoder.pid, reply, words: decoder.stderrTail() }, "a picture ended its decoder");
    throw undecodableImage(reply === "late" ? "took too long" : "pixels", decoder.stderrTail());
  };

  return {
    perform: async (frame) => {
      const size = frame.bytes.byteLength;
      if (heldBytes + size > MAX_QUEUED_BYTES) throw new Fault("service_overloaded");
      heldBytes += size;
      try {
        return await turn(() => attempt(frame, false));
      } finally {
        heldBytes -= size;
      }
    },
    walls: async () => (await opening)?.walls,
    pids: () => [...idle, ...busy].flatMap(({ pid }) => pid ?? []),
    close: () => {
      isClosed = true;
      for (const decoder of [...idle.splice(0), ...busy]) decoder.end();
    },
  };
};

/** The strongest walls that this machine lets us build, and the first process within them. */
const findStrongestSandbox = async (ways: DecoderSandboxProfile[], log: DecoderPoolOptions["log"]) => {
  for (const cell of ways) {
    const first = await startDecoderProcess(cell);
    if (!first) continue;
    const { walls } = first;
    const isWeak = walls.hasNetwork || walls.hasPrivileges || walls.memoryBytes === null;
    const tell = isWeak ? log?.warn.bind(log) : log?.info.bind(log);
    tell?.(
      { cell: cell.name, ...walls },
      isWeak ? "pictures are decoded with weaker walls" : "pictures are decoded apart",
    );
    return { cell, first, walls };
  }
  return undefined;
};

/** At most so many at once; the others wait in the order in which they came. */
const createSemaphore = (count: number) => {
  let free = count;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
};
