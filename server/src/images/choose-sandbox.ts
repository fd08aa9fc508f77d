// Starts a process in the strongest sandbox that this host allows.
import { type DecoderProcess, startDecoderProcess } from "./decoder-process.ts";
import type { DecoderSandboxProfile, DecoderSandboxStatus } from "./decoder-sandbox.ts";

export type ChosenSandbox = { profile: DecoderSandboxProfile; first: DecoderProcess; sandbox: DecoderSandboxStatus };

/** Undefined if no profile starts. `profiles` are ordered, strongest first. */
export async function chooseSandbox(profiles: DecoderSandboxProfile[]): Promise<ChosenSandbox | undefined> {
  for (const profile of profiles) {
    const first = await startDecoderProcess(profile);
    if (first) return { profile, first, sandbox: first.sandbox };
  }
  return undefined;
}
