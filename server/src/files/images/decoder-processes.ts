// The processes of a decoder pool. A further one is started only if no other is free; the image that needs it takes
// whichever is free first, because a start takes as long as many images. A process that has done its share is replaced.
import type { Clock } from "../../runtime/clock.ts";
import type { ChosenSandbox } from "./choose-sandbox.ts";
import { type DecoderProcess, startDecoderProcess } from "./decoder-process.ts";

export type DecoderProcesses = {
  /** The next free process. Undefined if none can be started. */
  take(): Promise<DecoderProcess | undefined>;
  /** The process has replied and can be used again. */
  release(decoder: DecoderProcess): void;
  /** The process has ended. */
  forget(decoder: DecoderProcess): void;
  pids(): number[];
  close(): void;
};

type ProcessOptions = {
  count: number;
  /** A process is replaced after this many images. */
  imagesPerProcess: number;
  clock?: Pick<Clock, "after">;
};

export function createDecoderProcesses(
  opening: Promise<ChosenSandbox | undefined>,
  { count, imagesPerProcess, clock }: ProcessOptions,
): DecoderProcesses {
  const idle: DecoderProcess[] = [];
  const busy = new Set<DecoderProcess>();
  const waiting: ((decoder: DecoderProcess | undefined) => void)[] = [];
  const imageCounts = new WeakMap<DecoderProcess, number>();
  const successors = new WeakMap<DecoderProcess, "starting" | "started">();
  let starting = 0;
  let isClosed = false;

  const start = async () =>
    (await opening.then((found) => found && startDecoderProcess(found.profile, clock))) || undefined;
  const offer = (decoder: DecoderProcess) => {
    if (isClosed) return decoder.end();
    const next = waiting.shift();
    if (!next) return void idle.push(decoder);
    busy.add(decoder);
    next(decoder);
  };
  const startForWaiting = () => {
    while (!isClosed && waiting.length > starting && idle.length + busy.size + starting < count) {
      starting++;
      void start().then((fresh) => {
        starting--;
        if (fresh) offer(fresh);
        else waiting.shift()?.(undefined);
        startForWaiting();
      });
    }
  };
  /** The old process works until the new one has started. */
  const replace = async (old: DecoderProcess) => {
    successors.set(old, "starting");
    const fresh = await start();
    // If the old process has died meanwhile, another one has been started in its place.
    const isWorking = idle.includes(old) || busy.has(old);
    if (!fresh || !isWorking || isClosed) {
      successors.delete(old);
      return fresh?.end();
    }
    successors.set(old, "started");
    offer(fresh);
    if (!busy.has(old)) idle.splice(idle.indexOf(old), 1)[0]?.end();
  };
  void opening.then((found) => found && offer(found.first));

  return {
    async take() {
      const found = await opening;
      const free = idle.pop();
      if (free) busy.add(free);
      if (free || !found) return free;
      return new Promise((resolve) => {
        waiting.push(resolve);
        startForWaiting();
      });
    },
    release(decoder) {
      busy.delete(decoder);
      const times = (imageCounts.get(decoder) ?? 0) + 1;
      imageCounts.set(decoder, times);
      if (successors.get(decoder) === "started") return decoder.end();
      offer(decoder);
      if (times >= imagesPerProcess && !successors.has(decoder)) void replace(decoder);
    },
    forget(decoder) {
      busy.delete(decoder);
      startForWaiting();
    },
    pids: () => [...idle, ...busy].flatMap(({ pid }) => pid ?? []),
    close() {
      isClosed = true;
      for (const next of waiting.splice(0)) next(undefined);
      for (const decoder of [...idle.splice(0), ...busy]) decoder.end();
    },
  };
}
