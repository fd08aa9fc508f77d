// Renders errors: as the API's error body, in the format of the operation, or as RFC 9457 problem details on request.
import type { Context } from "hono";
import type { Operation } from "../contract/operation.ts";
import { Fault, faults, toFault } from "../faults/faults.ts";
import type { Log } from "../observe/log.ts";

type Status = 200;

export function respondWithFault(context: Context, thrown: unknown, log: Log, operation?: Operation): Response {
  const fault = toFault(thrown);
  const requestId = context.res.headers.get("x-request-id") ?? "";
  if (fault.status >= 500)
    log.error({ request_id: requestId, code: fault.code, err: fault.cause ?? fault }, "request failed");

  const plain = fault.body();
  const body = { ...plain, details: { request_id: requestId, ...plain.details } };
  if (fault.retryable) context.header("retry-after", String(fault.details.retry_after ?? 1));
  if (fault.status === 401) context.header("www-authenticate", "Bearer");
  context.header("vary", "Accept", { append: true });

  const shaped = (operation?.renderError?.(body) ?? body) as object;
  if (context.req.header("accept")?.includes("application/problem+json")) {
    const problem = {
      type: `urn:gesso:error:${fault.code}`,
      title: faults[fault.code].message,
      status: fault.status,
      detail: fault.message,
      instance: `urn:request:${requestId}`,
    };
    return context.body(JSON.stringify({ ...problem, ...shaped }), fault.status as Status, {
      "content-type": "application/problem+json",
    });
  }
  return context.json(shaped, fault.status as Status);
}

export function readIdempotencyKey(rawHeaders: string[]): string | undefined {
  const keys = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() === "idempotency-key" ? [rawHeaders[index + 1] ?? ""] : [],
  );
  if (keys.length === 0) return undefined;
  if (keys.length > 1 || !/^[\x21-\x7e]{1,255}$/.test(keys[0]!)) throw new Fault("idempotency_key_invalid");
  return keys[0];
}
