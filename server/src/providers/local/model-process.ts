// Runs a model in a process of its own: a crash, hang or excessive memory use fails only one job. The process starts
// with the first job, does one job at a time, and ends when idle.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FaultCode, FaultDetails } from "../../faults.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import { providerFault } from "../call-provider.ts";

export type ModelName = "isnet" | "telea" | "esrgan";
export type ModelRequest = { image: Uint8Array; mask: Uint8Array | undefined; options: JsonObject };
/** `refused`: the reason for the caller why the input is invalid. `failed`: the error for the log. */
export type ModelReply = { bytes: Uint8Array } | { refused: FaultCode; details: FaultDetails } | { failed: string };
/** A loaded model: image in, image out. */
export type OpenModel = (request: ModelRequest) => Promise<Uint8Array>;

export type ModelLimits = {
  /** Limit of the JavaScript heap, which Node enforces. */
  heapMegabytes: number;
  /** Limit of the whole process memory, checked from outside. */
  mostMegabytes: number;
  /** Maximum wait of a job before it starts, so that a started job has time to finish. */
  waitSeconds: number;
  idleSeconds: number;
};

const PROGRAM = fileURLToPath(new URL("./model-worker.ts", import.meta.url));
const watchMilliseconds = 250;
const STDERR_CHARACTERS = 2000;

type ModelProcessOptions = { program?: string; folder: string; limits: ModelLimits };

export function createModelProcess(name: ModelName, { program = PROGRAM, folder, limits }: ModelProcessOptions) {
  let child: ChildProcess | undefined;
  let stderr = "";
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  const start = (): ChildProcess => {
    stderr = "";
    // The process gets no environment variables, so no secrets.
    const started = fork(program, [name, folder], {
      env: {},
      execArgv: [`--max-old-space-size=${limits.heapMegabytes}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    started.stderr?.on("data", (chunk) => {
      stderr = (stderr + chunk).slice(-STDERR_CHARACTERS);
    });
    started.once("exit", () => {
      if (child === started) child = undefined;
    });
    return started;
  };

  const end = () => {
    child?.kill("SIGKILL");
    child = undefined;
  };

  /** An idle process must not keep the server process alive. */
  const rest = () => {
    child?.unref();
    child?.channel?.unref();
    (child?.stderr as unknown as { unref?(): void } | null)?.unref?.();
    idle = setTimeout(end, limits.idleSeconds * 1000).unref();
  };

  const perform = async (request: ModelRequest, seconds: number): Promise<Uint8Array> => {
    clearTimeout(idle);
    child ??= start();
    child.ref();
    child.channel?.ref();
    try {
      return await runRequest(child, request, { seconds, limits, end, stderr: () => stderr });
    } finally {
      rest();
    }
  };

  return {
    /** Waiting and work together take at most this many seconds. */
    async perform(request: ModelRequest, seconds: number): Promise<Uint8Array> {
      const beginning = performance.now();
      const before = last;
      let leave = () => {};
      last = new Promise<void>((done) => {
        leave = done;
      }).then(() => before);
      try {
        await turn(before, Math.min(limits.waitSeconds, seconds / 2));
        return await perform(request, seconds - (performance.now() - beginning) / 1000);
      } finally {
        leave();
      }
    },
    end,
    /** For tests. */
    pid: () => child?.pid,
  };
}

async function turn(before: Promise<unknown>, seconds: number): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<"too long">();
  const timer = setTimeout(() => resolve("too long"), seconds * 1000);
  const first = await Promise.race([before, tooLong]);
  clearTimeout(timer);
  if (first === "too long") {
    throw providerFault("provider_error", {
      kind: "busy",
      retryAfterSeconds: seconds,
      cause: "another job is running",
    });
  }
}

type ModelCall = { seconds: number; limits: ModelLimits; end(): void; stderr(): string };

function runRequest(
  child: ChildProcess,
  request: ModelRequest,
  { seconds, limits, end, stderr }: ModelCall,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const fail = (cause: string) => reject(providerFault("provider_error", { kind: "failed", cause }));
  const onReply = (reply: ModelReply) => {
    if ("bytes" in reply) resolve(reply.bytes);
    else if ("refused" in reply) reject(providerFault(reply.refused, { kind: "refused" }, reply.details));
    else fail(reply.failed);
  };
  const onExit = (code: number | null, by: string | null) => fail(`ended with ${by ?? code}: ${stderr()}`);
  const timer = setTimeout(() => {
    reject(providerFault("provider_timeout", { kind: "failed", cause: "the model took too long" }));
    end();
  }, seconds * 1000);
  const watch = setInterval(() => {
    if (megabytesOf(child.pid) <= limits.mostMegabytes) return;
    fail(`needed more than ${limits.mostMegabytes} MB`);
    end();
  }, watchMilliseconds);
  child.once("message", onReply).once("exit", onExit);
  child.send(request, (error) => error && fail(error.message));
  return promise.finally(() => {
    clearInterval(watch);
    clearTimeout(timer);
    child.off("message", onReply).off("exit", onExit);
  });
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
