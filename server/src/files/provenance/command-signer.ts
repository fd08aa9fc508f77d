// Gets a signature from a program of the operator, for keys in an HSM: the bytes to sign on standard input, the
// signature on standard output. The program gets no environment variables but PATH.
import { spawn } from "node:child_process";
import { systemClock } from "../../runtime/system-clock.ts";
import { PATH } from "../images/decoder-process.ts";

const COMMAND_SECONDS = 15;
const MAX_SIGNATURE_BYTES = 1024;

export async function signWithCommand(command: string, algorithm: string, bytes: Uint8Array): Promise<Uint8Array> {
  const child = spawn(command, [algorithm], { env: { PATH }, cwd: "/", stdio: ["pipe", "pipe", "ignore"] });
  const timer = systemClock.after(COMMAND_SECONDS * 1000, () => child.kill("SIGKILL"));
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A program that ends early closes its input. Its exit code says whether it succeeded.
  child.stdin.on("error", () => undefined);
  child.stdin.end(bytes);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  timer.stop();
  const signature = Buffer.concat(chunks);
  if (exitCode !== 0) throw new Error(`PROVENANCE_SIGN_COMMAND ended with exit code ${exitCode}`);
  if (signature.byteLength === 0 || signature.byteLength > MAX_SIGNATURE_BYTES)
    throw new Error("PROVENANCE_SIGN_COMMAND returned no signature");
  return signature;
}
