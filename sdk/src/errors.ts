// What can go wrong, as classes by family. Each carries what support will ask for: code, details, request and run.
/** One place in a request that is not as it must be. `path` is a JSON pointer such as `/width`. */
export type FieldError = { path: string; code: string; message: string };

type PublicErrorField = "status" | "code" | "requestId" | "runId" | "idempotencyKey" | "headers";

/** What is known about a failure. */
export type ErrorFacts = Partial<Pick<GessoError, PublicErrorField>> & {
  details?: Record<string, unknown> | undefined;
  cause?: unknown;
};

const FAMILIES = Symbol.for("gesso.client.families");

type Family = { family: string };

/** Everything that this package throws. */
export class GessoError extends Error {
  static readonly family: string = "GessoError";
  /** HTTP status; absent when no answer came. */
  readonly status: number | undefined;
  /** A word for programs, from the list of errors. */
  readonly code: string | undefined;
  /** What else the server says, such as `errors` by field. */
  readonly details: Record<string, unknown>;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | undefined;
  /** The run that the call made, when it is known. */
  readonly runId: string | undefined;
  /** Sent with the call: the same key lands on the same run. */
  readonly idempotencyKey: string | undefined;
  /** Of the answer. */
  readonly headers: Headers | undefined;

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
    Object.defineProperty(this, "headers", { value: facts.headers, enumerable: false });
  }

  /** Where the repository tells about the code. */
  get docUrl(): string | undefined {
    return this.code && `docs/reference/errors.md#${this.code}`;
  }

  /** Like `instanceof`, and also true for an error of another installed copy of this package. */
  static isInstance<T extends GessoError>(this: Family & { prototype: T }, error: unknown): error is T {
    const families = (error as { [FAMILIES]?: string[] } | null | undefined)?.[FAMILIES];
    // biome-ignore lint/complexity/noThisInStatic: each family asks for its own name
    return Array.isArray(families) && families.includes(this.family);
  }
}

/** The request is not as it must be; sending it again changes nothing. Also raised before sending. */
export class ValidationError extends GessoError {
  static override readonly family: string = "ValidationError";
  /** Every misfit, by field. */
  get fieldErrors(): FieldError[] {
    return Array.isArray(this.details.errors) ? (this.details.errors as FieldError[]) : [];
  }
  /** The misfits of one field: `error.forField("width")`. */
  forField(name: string): FieldError[] {
    return this.fieldErrors.filter(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`));
  }
}

/** 401: no credential, or one that is not valid. */
export class AuthError extends GessoError {
  static override readonly family: string = "AuthError";
}
/** 403: the caller may not do this. */
export class PermissionError extends GessoError {
  static override readonly family: string = "PermissionError";
}
/** 402: a limit of money would be passed. */
export class BudgetError extends GessoError {
  static override readonly family: string = "BudgetError";
}
/** 404, 410: there is no such thing, or it is gone. */
export class NotFoundError extends GessoError {
  static override readonly family: string = "NotFoundError";
}
/** 409: the state does not allow it, or the idempotency key was used for something else. */
export class ConflictError extends GessoError {
  static override readonly family: string = "ConflictError";
}
/** 429: too much at once. */
export class RateLimitError extends GessoError {
  static override readonly family: string = "RateLimitError";
  /** Seconds, when the server says after how many it may work. */
  get retryAfter(): number | undefined {
    const seconds = Number(this.headers?.get("retry-after") ?? Number.NaN);
    return Number.isFinite(seconds) ? seconds : undefined;
  }
}
/** 500 and above: it is not the caller's fault. */
export class ServerError extends GessoError {
  static override readonly family: string = "ServerError";
}
/** No answer came. What was asked may have been done: the same `idempotencyKey` finds out. */
export class ConnectionError extends GessoError {
  static override readonly family: string = "ConnectionError";
}
/** No answer in time, or the run did not end in time. The run goes on. */
export class TimeoutError extends ConnectionError {
  static override readonly family: string = "TimeoutError";
}
/** The caller's own signal ended the call. */
export class AbortedError extends GessoError {
  static override readonly family: string = "AbortedError";
}

/** The run ended without a result. */
export class RunFailedError<R = unknown> extends GessoError {
  static override readonly family: string = "RunFailedError";
  /** The run as it ended; absent where the answer was only the error. */
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
