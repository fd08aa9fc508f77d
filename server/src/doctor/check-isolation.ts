// Reports how well this host isolates decoder processes. Unless a running server knows it already, one is started.
import { chooseSandbox } from "../files/images/choose-sandbox.ts";
import {
  type DecoderSandboxProfile,
  type DecoderSandboxStatus,
  decoderSandboxProfiles,
  describeIsolationProblem,
} from "../files/images/decoder-sandbox.ts";
import type { DoctorCheck } from "./report.ts";

export type IsolationSettings = { DECODER_MEGABYTES: number; ALLOW_WEAK_ISOLATION: boolean };

/** Both are undefined if no process starts. */
export type Isolation = { sandbox: DecoderSandboxStatus | undefined; profileName: string | undefined };

const FIX = "see Isolation in docs/guide/security.md, or set ALLOW_WEAK_ISOLATION=true";

/** Starts a decoder process as the server does, which takes about a second. */
export async function tryIsolation(profiles: DecoderSandboxProfile[]): Promise<Isolation> {
  const chosen = await chooseSandbox(profiles);
  chosen?.first.end();
  return { sandbox: chosen?.sandbox, profileName: chosen?.profile.name };
}

export async function checkIsolation(
  settings: IsolationSettings,
  findIsolation = () => tryIsolation(decoderSandboxProfiles({ megabytes: settings.DECODER_MEGABYTES })),
): Promise<DoctorCheck> {
  const name = "isolation";
  const { sandbox, profileName } = await findIsolation();
  const problem = describeIsolationProblem(sandbox);
  if (problem) return { name, status: settings.ALLOW_WEAK_ISOLATION ? "warn" : "fail", message: problem, fix: FIX };
  const filter = sandbox?.hasSystemCallFilter ? "" : "; no system call filter";
  return {
    name,
    status: "pass",
    message: `images are decoded in isolated processes (${profileName})${filter}`,
  };
}
