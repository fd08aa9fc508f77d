// What every part of the server throws. A response carries `code`, `message` and `details` of a fault; `cause` is only
// logged. Any other thrown value reaches the caller as `internal_error` without further details.
import {
  type FaultCode,
  type FaultDefinition,
  type FaultDetails,
  faults,
  type PublicFault,
  type ValidationIssue,
} from "./codes.ts";
import { detailedMessages } from "./messages.ts";

export { type FaultCode, type FaultDetails, faults, type PublicFault, type ValidationIssue } from "./codes.ts";

export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: FaultDetails;

  constructor(code: FaultCode, given: FaultDetails = {}, options: { cause?: unknown } = {}) {
    const details = boundErrors(given);
    super(detailedMessages[code]?.(details) || faults[code].message, options);
    this.name = "Fault";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return faults[this.code].status;
  }

  get retryable(): boolean {
    const row: FaultDefinition = faults[this.code];
    return row.isRetryable === true;
  }

  body(): PublicFault {
    return { message: this.message, code: this.code, details: { retryable: this.retryable, ...this.details } };
  }
}

const MAX_ERRORS = 20;
const MAX_PATH_CHARACTERS = 200;

/** A caller can send any number of wrong fields: `errors` has the first 20, and `error_count` counts all. */
function boundErrors(details: FaultDetails): FaultDetails {
  if (!Array.isArray(details.errors)) return details;
  const errors = details.errors as ValidationIssue[];
  const listed = errors
    .slice(0, MAX_ERRORS)
    .map((issue) =>
      issue.path?.length > MAX_PATH_CHARACTERS
        ? { ...issue, path: `${issue.path.slice(0, MAX_PATH_CHARACTERS)}…` }
        : issue,
    );
  return { ...details, errors: listed, ...(errors.length > MAX_ERRORS && { error_count: errors.length }) };
}

/** Wraps any thrown value; a Fault is returned as it is. */
export const toFault = (error: unknown): Fault =>
  error instanceof Fault ? error : new Fault("internal_error", {}, { cause: error });

const passesOf = ({ code }: Fault) => (faults[code] as FaultDefinition).passes;

/** Whether a dependency is away or full: the same work succeeds when it is back. */
export const passesByItself = (thrown: unknown): boolean => thrown instanceof Fault && passesOf(thrown) === "by itself";

/** Whether a later try may not meet the failure. Any thrown value that is no fault is an internal error. */
export const isTransient = (thrown: unknown): boolean => passesOf(toFault(thrown)) !== undefined;
