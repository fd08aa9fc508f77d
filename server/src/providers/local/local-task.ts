// What a job of ours gets into its hands and gives back: bytes in, bytes out, at once.
import type { JsonObject } from "../../kit/schemas/run.ts";
import { providerFault } from "../call-provider.ts";
import type { ProviderOutput } from "../provider.ts";

export type LocalTaskInputs = {
  images: Uint8Array[];
  mask: Uint8Array | undefined;
  masks: Uint8Array[];
  options: JsonObject;
};

export type LocalTask = (inputs: LocalTaskInputs) => Promise<ProviderOutput[]>;

/**
 * The job can never be done as it stands. It is said plainly, because a failure without a word would be tried again.
 */
export const rejectInput = (reason: string, cause?: unknown) =>
  providerFault("provider_rejected_input", { kind: "refused", cause }, { reason });
