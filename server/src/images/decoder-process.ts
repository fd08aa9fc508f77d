// One decoder process. It may crash, hang or be compromised: the caller gets a reply, "died" or "late", and nothing else from it is used.
import { spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "./decoder-protocol.ts";
import type { DecoderSandboxProfile, DecoderSandboxStatus } from "./decoder-sandbox.ts";

export type DecoderReply = DecoderMessage | "died" | "late";
export type DecoderProcess = {
  pid: number | undefined;
  walls: DecoderSandboxStatus;
  request(frame: DecoderMessage, seconds: number): Promise<DecoderReply>;
  /** The last that it said before it died, for our logs. */
  stderrTail(): string;
  end(): void;
};

const startSeconds = 15;
const mostAnswerBytes = 512 * 1024 * 1024;
const saidCharacters = 2000;

/** Undefined where this machine does not let us build such a cell. */
export const startDecoderProcess = async (cell: DecoderSandboxProfile): Promise<DecoderProcess | undefined> => {
  // Nothing of our environment goes along, and no folder of ours is the one it stands in.
  const child = spawn(cell.command, cell.arguments, { env: { PATH }, cwd: "/", stdio: "pipe" });
  lowerPriority(child.pid);
  let said = "";
  const gone = new Promise<"died">((resolve) => {
    child.once("error", (thrown) => {
      said = thrown.message;
      resolve("died");
    });
    child.once("close", () => resolve("died"));
  });
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-saidCharacters);
  });
  // A pipe that breaks means that the process is gone, which is noticed by its end.
  child.stdin.on("error", () => undefined);
  const frames = readDecoderMessages(child.stdout, mostAnswerBytes);
  const end = () => void child.kill("SIGKILL");

  const listen = async (seconds: number): Promise<DecoderReply> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), seconds * 1000);
    });
    const next = frames.next().then(
      ({ value }) => value ?? gone,
      (thrown) => {
        said = String(thrown);
        return "died" as const;
      },
    );
    const reply = await Promise.race([next, gone, late]);
    clearTimeout(timer);
    // Whatever it would still say is not wanted any more.
    if (typeof reply === "string") end();
    return reply;
  };

  const greeting = await listen(startSeconds);
  if (typeof greeting === "string") return undefined;
  // A decoder that waits must not keep our process alive.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
  return {
    pid: child.pid,
    walls: greeting.says.walls as DecoderSandboxStatus,
    request: (frame, seconds) => {
      for (const part of encodeDecoderMessage(frame)) child.stdin.write(part);
      return listen(seconds);
    },
    stderrTail: () => said,
    end,
  };
};

/** Where the programs that build the walls are found; the environment's own way there is not taken. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const STEP_BACK = 10;
const LOWEST = 19;

/** Lowers the priority of the decoder process, so that request handling comes first on a busy CPU. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(LOWEST, getPriority() + STEP_BACK));
  } catch {
    // It is gone already, which is noticed by its end; or the house does not let us, and then all are equal.
  }
}
