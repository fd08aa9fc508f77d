// Encodes videos with ffmpeg as a child process: a few at a time, stopped at once when the job is canceled.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createSemaphore } from "../semaphore.ts";

const atOnce = 2;

type EncodeOptions = { signal: AbortSignal; onFrame(frame: number): void };
type Failure = { code: string; message: string };

export type Encoder = {
  /** Runs ffmpeg with these arguments; gives what went wrong, or nothing. */
  encode(args: readonly string[], watch: EncodeOptions): Promise<Failure | undefined>;
};

const run = async (program: string, args: readonly string[], watch: EncodeOptions): Promise<Failure | undefined> => {
  if (watch.signal.aborted) return { code: "canceled", message: "The job was canceled." };
  const plain = ["-hide_banner", "-nostdin", "-v", "error", "-progress", "pipe:1", "-stats_period", "0.1"];
  const child = spawn(program, [...plain, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const stop = (): void => void child.kill("SIGKILL");
  watch.signal.addEventListener("abort", stop);
  let problem = "";
  child.stderr.on("data", (part: Buffer) => {
    problem = `${problem}${part}`.slice(-2000);
  });
  createInterface(child.stdout).on("line", (line) => {
    const frame = /^frame=\s*(\d+)/.exec(line)?.[1];
    if (frame) watch.onFrame(Number(frame));
  });
  try {
    const [code] = await once(child, "close");
    return code === 0 ? undefined : { code: "generation_failed", message: problem.trim() || "The encoder stopped." };
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing) return { code: "encoder_missing", message: `${program} is not installed.` };
    return { code: "generation_failed", message: String(cause) };
  } finally {
    watch.signal.removeEventListener("abort", stop);
  }
};

export const createEncoder = (program: string): Encoder => {
  const inTurn = createSemaphore(atOnce);
  return { encode: (args, watch) => inTurn(() => run(program, args, watch)) };
};
