// What a job of ours gets into its hands and gives back: bytes in, bytes out, at once.
import type { Json } from "../../kit/shapes.ts";
import { failure } from "../http.ts";
import type { Output } from "../provider.ts";

export type Inputs = {
  images: Uint8Array[];
  mask: Uint8Array | undefined;
  masks: Uint8Array[];
  options: Json;
};

export type LocalTask = (inputs: Inputs) => Promise<Output[]>;

/** The job can never be done as it stands. It is said plainly, because a failure without a word would be tried again. */
export const refuse = (reason: string, cause?: unknown) =>
  failure("provider_rejected_input", { kind: "refused", cause }, { reason });
