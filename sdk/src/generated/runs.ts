// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, callRun, type Call, type ListCall, type RunCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { callStream, type EventStream } from "../events.ts";
import { integer, object, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { Estimate, Run, RunPage, RunTree } from "./shapes.ts";

/** What `runs.estimate` takes. */
export type RunsEstimateInput = {
  /** The operation's name, such as images.generate */
  operation: string;
  /** What would be sent to that operation */
  input: Record<string, unknown>;
};

/** What `runs.events` takes. */
export type RunsEventsInput = {
  /** The id of the last event that you have; `Last-Event-ID` says the same, and goes before it */
  after?: string;
};

/** What `runs.list` takes. */
export type RunsListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
  /** Only runs in this state */
  status?: "queued" | "processing" | "completed" | "failed" | "canceled";
  /** Only runs of this kind */
  run_type?: string;
  /** Only runs made from this one */
  parent_run_id?: string;
  /** Only runs accepted later than this */
  created_after?: string;
};

/** The operations `runs.*`. */
export type Runs = {
  /**
   * Stop a run; the provider is told as well.
   * @example await client.runs.cancel("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  cancel: (run_id: string, options?: CallOptions) => Call<Run>;
  /**
   * Delete an ended run and its files; answers the run as it was.
   * @example await client.runs.delete("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  delete: (run_id: string, options?: CallOptions) => Call<Run>;
  /**
   * What a run would cost, and why; no run is made.
   * @example await client.runs.estimate({ operation: "images.generate", input: {"prompt":"a red bicycle by the sea","batch_size":2} })
   */
  estimate: (input: RunsEstimateInput, options?: CallOptions) => Call<Estimate>;
  /**
   * What happens to a run, as it happens, until it has ended.
   * @example for await (const event of client.runs.events("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")) console.log(event.type)
   */
  events: (run_id: string, input?: RunsEventsInput, options?: CallOptions) => EventStream;
  /**
   * How a run stands.
   * @example await client.runs.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (run_id: string, options?: CallOptions) => RunCall<Run>;
  /**
   * Your runs, newest first.
   * @example await client.runs.list()
   */
  list: (input?: RunsListInput, options?: CallOptions) => ListCall<RunPage>;
  /**
   * The whole tree that a run belongs to, and what its runs refer to.
   * @example await client.runs.tree("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  tree: (run_id: string, options?: CallOptions) => Call<RunTree>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const runs = runsOf(connect({ baseUrl, apiKey }))
 */
export function runsOf(connection: Connection): Runs {
  return {
    cancel: byId(call(connection, {
      name: "runs.cancel",
      path: "/api/v1/runs/{run_id}/cancel",
      required: ["run_id"],
      fields: { run_id: uuid },
    }), "run_id"),
    delete: byId(call(connection, {
      name: "runs.delete",
      method: "DELETE",
      path: "/api/v1/runs/{run_id}",
      required: ["run_id"],
      fields: { run_id: uuid },
    }), "run_id"),
    estimate: call(connection, {
      name: "runs.estimate",
      path: "/api/v1/runs/estimate",
      bodies: "json",
      creates: true,
      required: ["operation","input"],
      fields: { operation: text(0, 128), input: object },
    }),
    events: byIdWith(callStream(connection, {
      name: "runs.events",
      method: "GET",
      path: "/api/v1/runs/{run_id}/events",
      required: ["run_id"],
      fields: { run_id: uuid, after: text(0, 64) },
    }), "run_id"),
    get: byId(callRun(connection, {
      name: "runs.get",
      method: "GET",
      path: "/api/v1/runs/{run_id}",
      required: ["run_id"],
      fields: { run_id: uuid },
    }), "run_id"),
    list: callList(connection, {
      name: "runs.list",
      method: "GET",
      path: "/api/v1/runs",
      fields: { limit: integer(1, 100), cursor: text(0, 1024), status: words("queued", "processing", "completed", "failed", "canceled"), run_type: text(0, 64), parent_run_id: uuid, created_after: text() },
    }),
    tree: byId(call(connection, {
      name: "runs.tree",
      method: "GET",
      path: "/api/v1/runs/{run_id}/tree",
      required: ["run_id"],
      fields: { run_id: uuid },
    }), "run_id"),
  } as unknown as Runs;
}
