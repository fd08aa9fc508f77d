// What every API does with an operation once its caller is admitted: start a run, or respond to a query. Nothing here
// depends on how a request or a response is written.
import { createAccessServices } from "../access/access-services.ts";
import type { RequestContext } from "../access/request-context.ts";
import { createAdminServices } from "../admin/admin-services.ts";
import type { Operation, OperationServices } from "../kit/operation.ts";
import type { ParsedInput } from "../kit/parse.ts";
import { createOperationServices } from "../library/operation-services.ts";
import { type AcceptedRun, acceptRun, type RunRequest } from "../runs/accept-run.ts";
import { repeatRun } from "../runs/repeat-run.ts";
import { createWebhookStore } from "../webhooks/webhook-store.ts";
import type { AdmittedRequest } from "./admission.ts";
import type { HttpServices } from "./http-services.ts";

/** A request for a new run, by an admitted caller. */
type NewRunRequest = {
  operation: Operation;
  request: RequestContext;
  admitted: AdmittedRequest;
  prefer: { isStrict: boolean };
} & Pick<RunRequest, "checkEstimate" | "identity">;

export async function acceptNewRun(
  { runs }: Pick<HttpServices, "runs">,
  { operation, request, admitted, prefer, checkEstimate, identity: ownIdentity }: NewRunRequest,
  parsed: ParsedInput,
): Promise<AcceptedRun> {
  const { database, caller, idempotencyKey, storageLimits } = request;
  const { openRunLimits, consumeRunRateLimit: consumeRateLimit } = admitted;
  const options = {
    ...{ idempotencyKey, isStrict: prefer.isStrict, consumeRateLimit, openRunLimits, storageLimits },
    ...(checkEstimate && { checkEstimate }),
  };
  const services = { ...runs, database };
  const identity = ownIdentity ?? { operation: operation.name, input: parsed.provided };
  const accepting = operation.repeatRun
    ? repeatRun(services, caller, { ...options, ...operation.repeatRun(parsed.input), identity })
    : acceptRun(services, caller, { ...options, operation, parsed, identity });
  const accepted = await accepting.catch((thrown) => {
    admitted.refundRunRateLimit();
    throw thrown;
  });
  // A replay is not counted, even if it was found only after a concurrent request had inserted the run.
  if (accepted.isReplay) {
    admitted.refundRunRateLimit();
    admitted.refundRequestRateLimit();
  }
  admitted.endAdmission();
  return accepted;
}

/** The services for operations without a run, on behalf of one caller. */
export const createQueryServices = (
  http: Pick<HttpServices, "runs" | "access" | "webhooks" | "admin">,
  request: RequestContext,
): OperationServices => ({
  ...createOperationServices(http.runs, request),
  ...createAccessServices(http.access, request),
  webhooks: createWebhookStore(http.webhooks, request),
  admin: createAdminServices(http.admin, request),
});
