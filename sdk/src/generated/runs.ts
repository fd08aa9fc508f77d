// Printed by `npm run generate` from the code; never edited by hand.
import { byId, call, callList, callRun, type Call, type ListCall, type RunCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import type { Operation } from "../operation.ts";
import type { CallOptions } from "../settings.ts";
import type { Estimate, Run, RunPage, RunTree } from "./shapes.ts";

/** What `runs.estimate` takes. */
export type RunsEstimateInput = {
  /** The operation's name, such as images.generate */
  operation: string;
  /** What would be sent to that operation */
  input: Record<string, unknown>;
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

const RUNS_CANCEL: Operation = {"name":"runs.cancel","method":"POST","path":"/api/v1/runs/{run_id}/cancel","fields":{"type":"object","required":["run_id"],"properties":{"run_id":{"type":"string","format":"uuid"}}}};

const RUNS_DELETE: Operation = {"name":"runs.delete","method":"DELETE","path":"/api/v1/runs/{run_id}","fields":{"type":"object","required":["run_id"],"properties":{"run_id":{"type":"string","format":"uuid"}}}};

const RUNS_ESTIMATE: Operation = {"name":"runs.estimate","method":"POST","path":"/api/v1/runs/estimate","bodies":["json"],"creates":true,"fields":{"type":"object","required":["operation","input"],"properties":{"operation":{"type":"string","maxLength":128},"input":{"type":"object"}}}};

const RUNS_GET: Operation = {"name":"runs.get","method":"GET","path":"/api/v1/runs/{run_id}","fields":{"type":"object","required":["run_id"],"properties":{"run_id":{"type":"string","format":"uuid"}}}};

const RUNS_LIST: Operation = {"name":"runs.list","method":"GET","path":"/api/v1/runs","fields":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100},"cursor":{"type":"string","maxLength":1024},"status":{"type":"string","enum":["queued","processing","completed","failed","canceled"]},"run_type":{"type":"string","maxLength":64},"parent_run_id":{"type":"string","format":"uuid"},"created_after":{"type":"string"}}}};

const RUNS_TREE: Operation = {"name":"runs.tree","method":"GET","path":"/api/v1/runs/{run_id}/tree","fields":{"type":"object","required":["run_id"],"properties":{"run_id":{"type":"string","format":"uuid"}}}};

/**
 * The operations of this group on a connection of their own.
 * @example const runs = runsOf(connect({ baseUrl, apiKey }))
 */
export function runsOf(connection: Connection): Runs {
  return {
    cancel: byId(call(connection, RUNS_CANCEL), "run_id"),
    delete: byId(call(connection, RUNS_DELETE), "run_id"),
    estimate: call(connection, RUNS_ESTIMATE),
    get: byId(callRun(connection, RUNS_GET), "run_id"),
    list: callList(connection, RUNS_LIST),
    tree: byId(call(connection, RUNS_TREE), "run_id"),
  } as unknown as Runs;
}
