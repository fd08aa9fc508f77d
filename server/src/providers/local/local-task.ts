// The interface of local tasks: bytes in, bytes out, synchronously.
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
 * The job is invalid for any provider. Without this fault, the run would retry it.
 */
export const rejectInput = (reason: string, cause?: unknown) =>
  providerFault("provider_rejected_input", { kind: "refused", cause }, { reason });
