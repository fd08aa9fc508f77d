// One decoder process. It can crash, hang or be compromised, so the caller gets either a reply, "died" or "timeout".
import { spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import type { Clock } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "./decoder-protocol.ts";
import type { DecoderSandboxProfile, DecoderSandboxStatus } from "./decoder-sandbox.ts";

export type DecoderReply = DecoderMessage | "died" | "timeout";
export type DecoderProcess = {
  pid: number | undefined;
  sandbox: DecoderSandboxStatus;
  request(frame: DecoderMessage, seconds: number): Promise<DecoderReply>;
  /** The end of its standard error, for the log. */
  stderrTail(): string;
  end(): void;
};

/** A profile that the host refuses ends at once. A busy machine is slow, and must not lead to a weaker profile. */
const START_SECONDS = 90;
const MAX_REPLY_BYTES = 512 * 1024 * 1024;
const STDERR_CHARACTERS = 2000;

/** Undefined if the host does not allow this sandbox profile. */
export const startDecoderProcess = async (
  profile: DecoderSandboxProfile,
  clock: Pick<Clock, "after"> = systemClock,
): Promise<DecoderProcess | undefined> => {
  // The process gets no environment variables, so no secrets, and its working directory is the root.
  const child = spawn(profile.command, profile.arguments, { env: { PATH }, cwd: "/", stdio: "pipe" });
  if (!profile.keepsPriority) lowerPriority(child.pid);
  let stderr = "";
  const died = new Promise<"died">((resolve) => {
    child.once("error", (thrown) => {
      stderr = thrown.message;
      resolve("died");
    });
    child.once("close", () => resolve("died"));
  });
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-STDERR_CHARACTERS);
  });
  // A broken pipe means that the process has ended, which `close` reports.
  child.stdin.on("error", () => undefined);
  const frames = readDecoderMessages(child.stdout, MAX_REPLY_BYTES);
  const end = () => void child.kill("SIGKILL");

  const receive = async (seconds: number): Promise<DecoderReply> => {
    const { promise: timeout, resolve } = Promise.withResolvers<"timeout">();
    const timer = clock.after(seconds * 1000, () => resolve("timeout"));
    const next = frames.next().then(
      ({ value }) => value ?? died,
      (thrown) => {
        stderr = String(thrown);
        return "died" as const;
      },
    );
    const reply = await Promise.race([next, died, timeout]);
    timer.stop();
    // A process without a valid reply is not used again.
    if (typeof reply === "string") end();
    return reply;
  };

  const greeting = await receive(START_SECONDS);
  if (typeof greeting === "string") return undefined;
  // An idle decoder must not keep the server process alive.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
  return {
    pid: child.pid,
    sandbox: greeting.header.sandbox as DecoderSandboxStatus,
    request: (frame, seconds) => {
      for (const part of encodeDecoderMessage(frame)) child.stdin.write(part);
      return receive(seconds);
    },
    stderrTail: () => stderr,
    end,
  };
};

/** A fixed search path for the sandbox programs, so that the environment cannot redirect it. */
export const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const PRIORITY_STEP = 10;
const LOWEST_PRIORITY = 19;

/** Lowers the priority of the decoder process, so that request handling comes first on a busy CPU. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(LOWEST_PRIORITY, getPriority() + PRIORITY_STEP));
  } catch {
    // The process has ended already, or the host does not allow it. Both are harmless.
  }
}
