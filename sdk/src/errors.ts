// Error classes of the client. Each error carries the code, the details and the IDs of the request and the run.
/** A validation error of one field. `path` is a JSON pointer such as `/width`. */
export type FieldError = { path: string; code: string; message: string };

type PublicErrorField = "status" | "code" | "requestId" | "runId" | "idempotencyKey" | "headers";

/** Properties of an error. */
export type ErrorFacts = Partial<Pick<GessoError, PublicErrorField>> & {
  details?: Record<string, unknown> | undefined;
  /** Any URL of the server. */
  serverUrl?: string | undefined;
  cause?: unknown;
};

const FAMILIES = Symbol.for("gesso.client.families");

type Family = { family: string };

/** Superclass of all errors that this package throws. */
export class GessoError extends Error {
  static readonly family: string = "GessoError";
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** Error code, for example `validation_error`. See docs/reference/errors.md. */
  readonly code: string | undefined;
  /** Further details from the server, for example `errors` by field. */
  readonly details: Record<string, unknown>;
  /** `X-Request-Id` of the response. */
  readonly requestId: string | undefined;
  /** ID of the run that the call created, if known. */
  readonly runId: string | undefined;
  /** Idempotency key of the call: a retry with the same key returns the same run. */
  readonly idempotencyKey: string | undefined;
  /** Headers of the response. */
  readonly headers: Headers | undefined;
  /** The server's page about the error code: when it happens and what to do. */
  readonly docUrl: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    const families: string[] = [];
    for (let each = new.target as Family | null; each?.family; each = Object.getPrototypeOf(each)) {
      families.push(each.family);
    }
    this.name = families[0] ?? "GessoError";
    Object.defineProperty(this, FAMILIES, { value: families });
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details ?? {};
    this.requestId = facts.requestId;
    this.runId = facts.runId ?? (facts.details?.run_id as string | undefined);
    this.idempotencyKey = facts.idempotencyKey;
    // A client behind a proxy can have a relative URL.
    const origin = /^https?:\/\/[^/]+/.exec(facts.serverUrl ?? "")?.[0];
    this.docUrl = facts.code && origin && `${origin}/errors/${facts.code}`;
    Object.defineProperty(this, "headers", { value: facts.headers, enumerable: false });
  }

  /** Like `instanceof`, and also true for an error of another installed copy of this package. */
  static isInstance<T extends GessoError>(this: Family & { prototype: T }, error: unknown): error is T {
    const families = (error as { [FAMILIES]?: string[] } | null | undefined)?.[FAMILIES];
    // biome-ignore lint/complexity/noThisInStatic: each subclass compares its own family
    return Array.isArray(families) && families.includes(this.family);
  }
}

/** 400, 413, 415, 422: the request is invalid; a retry does not help. Also thrown before sending. */
export class ValidationError extends GessoError {
  static override readonly family: string = "ValidationError";
  /** All validation errors. */
  get fieldErrors(): FieldError[] {
    return Array.isArray(this.details.errors) ? (this.details.errors as FieldError[]) : [];
  }
  /** The validation errors of one field: `error.forField("width")`. */
  forField(name: string): FieldError[] {
    return this.fieldErrors.filter(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`));
  }
}

/** 401: the credential is missing or invalid. */
export class AuthError extends GessoError {
  static override readonly family: string = "AuthError";
}
/** 403: the credential lacks the required permission. */
export class PermissionError extends GessoError {
  static override readonly family: string = "PermissionError";
}
/** 402: the request would exceed a budget or the credit. */
export class BudgetError extends GessoError {
  static override readonly family: string = "BudgetError";
}
/** 404, 410: the resource does not exist or has been deleted. */
export class NotFoundError extends GessoError {
  static override readonly family: string = "NotFoundError";
}
/** 409: the state of the resource does not allow the request, or the idempotency key belongs to another request. */
export class ConflictError extends GessoError {
  static override readonly family: string = "ConflictError";
}
/** 429: a rate limit or a concurrency limit is exceeded. */
export class RateLimitError extends GessoError {
  static override readonly family: string = "RateLimitError";
  /** Seconds to wait before a retry, from the `Retry-After` header. */
  get retryAfter(): number | undefined {
    const seconds = Number(this.headers?.get("retry-after") ?? Number.NaN);
    return Number.isFinite(seconds) ? seconds : undefined;
  }
}
/** 500 and above: the server failed. */
export class ServerError extends GessoError {
  static override readonly family: string = "ServerError";
}
/** There was no response. The server may have processed the request: a retry with the same `idempotencyKey` is safe. */
export class ConnectionError extends GessoError {
  static override readonly family: string = "ConnectionError";
}
/** The response or the end of the run did not arrive before the timeout. The run continues. */
export class TimeoutError extends ConnectionError {
  static override readonly family: string = "TimeoutError";
}
/** The call was aborted by the caller's signal. */
export class AbortedError extends GessoError {
  static override readonly family: string = "AbortedError";
}

/** The run ended without a result. */
export class RunFailedError<R = unknown> extends GessoError {
  static override readonly family: string = "RunFailedError";
  /** The failed run; undefined if the response contained only the error. */
  readonly run: R | undefined;
  constructor(message: string, facts: ErrorFacts & { run?: R } = {}) {
    super(message, facts);
    this.run = facts.run;
  }
}
/** The run was canceled. */
export class RunCanceledError<R = unknown> extends RunFailedError<R> {
  static override readonly family: string = "RunCanceledError";
}
