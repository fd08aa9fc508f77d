// Starts a decoder process, as the server does, and reports how well this host isolates it.
import { chooseSandbox } from "../images/choose-sandbox.ts";
import { decoderSandboxProfiles, describeIsolationProblem } from "../images/decoder-sandbox.ts";
import type { DoctorCheck } from "./report.ts";

export type IsolationSettings = { DECODER_MEGABYTES: number; ALLOW_WEAK_ISOLATION: boolean };

const FIX = "see Isolation in docs/guide/security.md, or set ALLOW_WEAK_ISOLATION=true";

export async function checkIsolation(
  settings: IsolationSettings,
  profiles = decoderSandboxProfiles({ megabytes: settings.DECODER_MEGABYTES }),
): Promise<DoctorCheck> {
  const name = "isolation";
  const chosen = await chooseSandbox(profiles);
  chosen?.first.end();
  const problem = describeIsolationProblem(chosen?.sandbox);
  if (problem) return { name, status: settings.ALLOW_WEAK_ISOLATION ? "warn" : "fail", message: problem, fix: FIX };
  const filter = chosen?.sandbox.hasSystemCallFilter ? "" : "; no system call filter";
  return {
    name,
    status: "pass",
    message: `images are decoded in isolated processes (${chosen?.profile.name})${filter}`,
  };
}
