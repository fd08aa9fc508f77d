// Calls an operation of the client by its name and returns the ID of its run. The response has no body, because bodies
// differ between operations; the headers name the run.
import type { CallOptions } from "@gesso/client";
import { client } from "../api/client.ts";
import type { DraftRequest } from "./draft.ts";

type OperationCall = (input: object, options: CallOptions) => { asResponse(): Promise<Response> };

export type AcceptedRun = { runId: string; isReplay: boolean };

export async function callOperation({ operation, input }: DraftRequest, idempotencyKey: string): Promise<AcceptedRun> {
  const call = operation
    .split(".")
    .reduce<unknown>((node, word) => (node as Record<string, unknown>)[word], client) as OperationCall;
  // Operations that return an image would wait for it unless JSON is asked for.
  const response = await call(input, {
    idempotencyKey,
    minimal: true,
    headers: { accept: "application/json" },
  }).asResponse();
  return {
    runId: response.headers.get("x-run-id") ?? "",
    isReplay: response.headers.get("idempotent-replayed") === "true",
  };
}
