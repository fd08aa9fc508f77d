// The filters of runs by one field, shared by the operations that list, count and cancel runs.
import { z } from "zod";
import { nonBlankText, textField } from "./fields.ts";

export const runFilterFields = {
  run_type: textField("Only runs with this run_type", 64).optional(),
  model: textField("Only runs of this model", 128).optional(),
  key_id: z.uuid().optional().describe("Only runs that were created with this API key"),
  user_id: textField("Only runs of this user", 255).optional(),
};

/** Filters by what is known when a run has ended, and by its place in the run tree. */
export const endedRunFilterFields = {
  provider: textField("Only runs of this provider", 64).optional(),
  error_code: textField("Only runs that ended with this error code", 64).optional(),
  roots: z.boolean().optional().describe("With true, only runs without a parent"),
};

export const runTag = (description = "A tag, 1 to 50 characters") => nonBlankText(description, 50);

/** Filters that can be counted and listed by one field each. */
type RunCountFilter = {
  status?: string | undefined;
  run_type?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  key_id?: string | undefined;
  user_id?: string | undefined;
  error_code?: string | undefined;
  roots?: boolean | undefined;
};

export type RunFilter = RunCountFilter & {
  limit: number;
  cursor?: string | undefined;
  parent_run_id?: string | undefined;
  end_user?: string | undefined;
  customer?: string | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
  q?: string | undefined;
  starred?: boolean | undefined;
  tag?: string | undefined;
};

export type RunCancelFilter = {
  status: "queued" | "processing";
  run_type?: string | undefined;
  model?: string | undefined;
  key_id?: string | undefined;
  user_id?: string | undefined;
  created_before?: string | undefined;
};
