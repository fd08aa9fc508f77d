// Creates a run and waits for its end, whatever that is.
import { type Run, RunFailedError } from "@gesso/client";
import type { ConsoleBrowser } from "./console-browser.ts";

type CreatedRun = { asResponse(): Promise<Response> };

/** The run as `runs.get` returns it after its end. */
export async function endRun(client: ConsoleBrowser["client"], call: CreatedRun): Promise<Run> {
  const response = await call.asResponse();
  const runId = response.headers.get("x-run-id") ?? "";
  await client.runs
    .get(runId)
    .wait()
    .catch((error: unknown) => {
      if (!RunFailedError.isInstance(error)) throw error;
    });
  return client.runs.get(runId);
}
