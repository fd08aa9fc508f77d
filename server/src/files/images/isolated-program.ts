// Runs a program of the host in the sandbox of the decoder processes: bytes on its standard input, bytes from its
// standard output. The program gets no environment variables, and is killed after its time.
import { spawn } from "node:child_process";
import type { Clock } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { PATH } from "./decoder-process.ts";
import { decoderSandboxProfiles } from "./decoder-sandbox.ts";

/** `profileName` is the strongest profile that this host allows; the decoder processes found it out. */
type IsolatedProgram = {
  profileName: string;
  command: string[];
  input: Uint8Array;
  megabytes: number;
  seconds: number;
  maxOutputBytes: number;
  clock?: Pick<Clock, "after">;
};
type ProgramResult = { output: Buffer } | { failure: "failed" | "timeout" | "too_large"; stderr: string };

const STDERR_CHARACTERS = 2000;

export async function runIsolatedProgram({
  profileName,
  command,
  input,
  megabytes,
  seconds,
  maxOutputBytes,
  clock = systemClock,
}: IsolatedProgram): Promise<ProgramResult> {
  const profile = decoderSandboxProfiles({ megabytes, command }).find(({ name }) => name === profileName);
  if (!profile) throw new Error(`There is no sandbox profile ${profileName}.`);
  const child = spawn(profile.command, profile.arguments, { env: { PATH }, cwd: "/", stdio: "pipe" });
  let stderr = "";
  let failure: "failed" | "timeout" | "too_large" | undefined;
  const stop = (reason: "timeout" | "too_large") => {
    failure ??= reason;
    child.kill("SIGKILL");
  };
  const timer = clock.after(seconds * 1000, () => stop("timeout"));
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxOutputBytes) stop("too_large");
    else chunks.push(chunk);
  });
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-STDERR_CHARACTERS);
  });
  // A program that has seen enough closes its input. Whether it succeeded is in its exit code.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", (thrown) => {
      stderr = thrown.message;
      resolve(null);
    });
    child.once("close", resolve);
  });
  timer.stop();
  if (exitCode !== 0) failure ??= "failed";
  return failure ? { failure, stderr } : { output: Buffer.concat(chunks) };
}
