// Starts a process in the strongest sandbox that this host allows.
import type { Clock } from "../../runtime/clock.ts";
import { type DecoderProcess, startDecoderProcess } from "./decoder-process.ts";
import { type DecoderSandboxProfile, type DecoderSandboxStatus, listWeaknesses } from "./decoder-sandbox.ts";

export type ChosenSandbox = { profile: DecoderSandboxProfile; first: DecoderProcess; sandbox: DecoderSandboxStatus };

/**
 * The first profile without a weakness, or else the first that starts. Undefined if none starts. `profiles` are in
 * order, strongest first.
 */
export async function chooseSandbox(
  profiles: DecoderSandboxProfile[],
  clock?: Pick<Clock, "after">,
): Promise<ChosenSandbox | undefined> {
  let weak: ChosenSandbox | undefined;
  for (const profile of profiles) {
    const first = await startDecoderProcess(profile, clock);
    if (!first) continue;
    const { sandbox } = first;
    if (listWeaknesses(sandbox).length === 0) {
      weak?.first.end();
      return { profile, first, sandbox };
    }
    if (weak) first.end();
    else weak = { profile, first, sandbox };
  }
  return weak;
}
