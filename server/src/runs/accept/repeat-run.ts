// Repeats the request of an earlier run, with changes, as a new run below it. The operation of the earlier run
// validates and authorizes the request again, so nothing is accepted that a new request would not be.
import { authorize } from "../../access/scopes.ts";
import { applyMergePatch } from "../../contract/merge-patch.ts";
import type { Operation, RepeatedRequest } from "../../contract/operation.ts";
import { listFormOnlyFields, type ParsedInput, parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Caller } from "../../db/access/caller.ts";
import { findRun, type RunRow } from "../../db/runs/runs.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";
import { findRunOperation } from "../../operations/all-runs.ts";
import { selectGiven } from "../show/render-run.ts";
import {
  type AcceptDependencies,
  type AcceptedRun,
  acceptRun,
  identifyRun,
  type RequestIdentity,
  type RunRequest,
} from "./accept-run.ts";

/** `identity` is that of the request to repeat: the same idempotency key with other changes is refused. */
export type RepeatRunRequest = Omit<RunRequest, "operation" | "parsed" | "parentRunId" | "identity"> &
  RepeatedRequest & { identity: RequestIdentity };

export async function repeatRun(
  services: AcceptDependencies,
  caller: Caller,
  { run_id, changes, identity, ...request }: RepeatRunRequest,
): Promise<AcceptedRun> {
  const { database } = services;
  // Before the earlier run is read: a replay does not depend on it, and it may be deleted meanwhile.
  const replay = await identifyRun(database, caller, { ...request, identity }).findReplay();
  if (replay) return replay;
  const row = await findRun(database, caller.tenant_id, run_id);
  if (!row) throw new Fault("run_not_found");
  if (row.deleted_at) throw new Fault("run_deleted");
  const { operation, given } = findRepeatableRequest(row, caller);
  authorize(caller, operation);
  const parsed = parseChanged(operation, applyMergePatch(given, changes));
  return acceptRun(services, caller, {
    ...{ ...request, operation, parsed, identity, parentRunId: row.run_id, attribution: row },
  });
}

/**
 * `sync` is left out: whether a caller waits is no part of what is repeated. So is what the cost counts for, if an
 * access token repeats the run: its own customer and tags count.
 */
function findRepeatableRequest(row: RunRow, { token }: Caller): { operation: Operation; given: JsonObject } {
  const operation = findRunOperation(row.operation);
  const { sync: _sync, customer, tags, ...request } = selectGiven(row) ?? {};
  const given = {
    ...request,
    ...(!token && { ...(customer !== undefined && { customer }), ...(tags !== undefined && { tags }) }),
  };
  if (!operation?.plan || row.given_fields === null) throw new Fault("run_not_repeatable", { run_type: row.run_type });
  return { operation, given };
}

/** A file of a form is stored, and its field refers to it. Only forms have such fields. */
function parseChanged(operation: Operation, raw: JsonObject): ParsedInput {
  const isForm = listFormOnlyFields(operation).some((field) => field in raw);
  try {
    return parseInput(operation, raw, isForm ? "form" : "json");
  } catch (thrown) {
    if (!(thrown instanceof Fault) || !Array.isArray(thrown.details.errors)) throw thrown;
    const errors = (thrown.details.errors as ValidationIssue[]).map((issue) => ({
      ...issue,
      path: `/changes${issue.path}`,
    }));
    throw new Fault(thrown.code, { ...thrown.details, errors });
  }
}
