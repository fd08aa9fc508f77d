// The catalogue of errors, one row per code. Callers get `message` and `details`; `cause` goes to the log only. An error
// that is not a Fault reaches callers as `internal_error` without further details.

/** `status` is the HTTP answer; rows without one happen only to runs. `retry` tells the caller that trying again may help. */
type FaultDefinition = { status: number; says: string; retry?: boolean };

export const faults = {
  authentication_required: { status: 401, says: "Authentication required. Send an API key or an access token." },
  invalid_api_key: { status: 401, says: "The API key is not valid." },
  invalid_token: { status: 401, says: "The access token is not valid." },
  token_expired: { status: 401, says: "The access token has expired." },
  insufficient_scope: { status: 403, says: "The credential does not have the scope for this." },
  permission_denied: { status: 403, says: "The role does not allow this." },
  tenant_suspended: { status: 403, says: "The tenant has been suspended." },
  ambiguous_credentials: { status: 400, says: "Two different credentials were given." },
  route_not_found: { status: 404, says: "No operation exists at this URL." },
  method_not_allowed: { status: 405, says: "This URL does not support the request method." },
  run_not_found: { status: 404, says: "There is no such run." },
  run_deleted: { status: 410, says: "The run was deleted." },
  model_not_found: { status: 404, says: "There is no such model." },
  prompt_not_found: { status: 404, says: "There is no such prompt." },
  asset_not_found: { status: 404, says: "There is no such file." },
  asset_expired: { status: 410, says: "The file has expired." },
  invalid_json: { status: 400, says: "The body is not valid JSON." },
  validation_error: { status: 400, says: "Some fields are invalid. See details.errors." },
  unsupported_parameter: { status: 400, says: "The selected model does not support this parameter." },
  idempotency_key_invalid: {
    status: 400,
    says: "The Idempotency-Key must be 1 to 255 visible ASCII characters, sent once.",
  },
  idempotency_in_progress: {
    status: 409,
    says: "The first request with this Idempotency-Key is still being processed. Retry shortly.",
    retry: true,
  },
  idempotency_key_reused: {
    status: 422,
    says: "This Idempotency-Key was used with a different request. Use a new key.",
  },
  invalid_cursor: { status: 400, says: "The cursor is invalid or expired. Start again without a cursor." },
  request_timeout: { status: 408, says: "The request took too long to arrive.", retry: true },
  payload_too_large: { status: 413, says: "The body is larger than allowed." },
  too_many_parts: { status: 413, says: "The form has more parts than allowed." },
  headers_too_large: { status: 431, says: "The headers are larger than allowed." },
  unsupported_media_type: { status: 415, says: "This content type is not supported." },
  unsupported_content_encoding: { status: 415, says: "Compressed request bodies are not supported." },
  unsupported_image_format: { status: 415, says: "The file is not a JPEG, PNG or WebP image." },
  image_undecodable: { status: 422, says: "The image is damaged." },
  image_too_many_pixels: { status: 422, says: "The image is larger than 50 megapixels or 16,384 pixels a side." },
  image_too_small: { status: 422, says: "The image is smaller than 16 pixels a side." },
  image_animated_not_supported: { status: 422, says: "Animated images are not supported." },
  mask_mismatch: { status: 422, says: "The mask does not have the size of the image." },
  url_not_allowed: { status: 422, says: "This URL is not allowed as a source." },
  webhook_url_not_allowed: { status: 422, says: "This URL is not allowed as a webhook." },
  source_fetch_failed: { status: 422, says: "The source could not be read.", retry: true },
  source_too_large: { status: 422, says: "The source is larger than allowed." },
  content_refused: { status: 422, says: "The content was refused." },
  run_not_ready: { status: 409, says: "The source run has not ended yet.", retry: true },
  source_run_failed: { status: 409, says: "The source run ended without an image." },
  run_not_cancelable: { status: 409, says: "The run has already ended." },
  run_canceled: { status: 409, says: "The run was canceled." },
  tree_too_deep: { status: 422, says: "The tree of runs would be deeper than 64 levels." },
  insufficient_credits: { status: 402, says: "The balance is lower than the estimated cost of this run." },
  spend_limit_reached: { status: 402, says: "The run would exceed a spending limit." },
  conflict: { status: 409, says: "The resource was changed by another request. Read it again.", retry: true },
  rate_limited: {
    status: 429,
    says: "Rate limit exceeded. Retry after the time in the Retry-After header.",
    retry: true,
  },
  concurrency_limit_reached: {
    status: 429,
    says: "The limit of open runs is reached. Retry when a run has ended.",
    retry: true,
  },
  model_unavailable: { status: 503, says: "No provider offers this model at the moment.", retry: true },
  service_overloaded: { status: 503, says: "The service is busy.", retry: true },
  dependency_unavailable: { status: 503, says: "A dependency of the service is unavailable.", retry: true },
  asset_unavailable: { status: 502, says: "The file cannot be read from storage.", retry: true },
  internal_error: { status: 500, says: "Something went wrong on our side.", retry: true },
  sync_timeout: { status: 504, says: "The wait timed out. The run continues; read it by its run_id.", retry: true },
  provider_error: { status: 502, says: "The provider failed.", retry: true },
  provider_rejected_input: { status: 422, says: "The provider refused the parameters." },
  provider_timeout: { status: 504, says: "The provider did not finish in time.", retry: true },
  provider_output_invalid: { status: 502, says: "The provider's result cannot be used.", retry: true },
  provider_outcome_unknown: {
    status: 502,
    says: "It is unknown whether the provider accepted the job. Nothing was charged.",
  },
  storage_failed: { status: 500, says: "The result could not be stored.", retry: true },
  run_timeout: { status: 504, says: "The run did not end before its deadline.", retry: true },
  canceled_by_user: { status: 409, says: "The run was canceled by its owner." },
} as const satisfies Record<string, FaultDefinition>;

export type FaultCode = keyof typeof faults;
export type FaultDetails = Record<string, unknown>;

/** What is kept with a run that failed, and what a body carries. */
export type PublicFault = { message: string; code: FaultCode; details: FaultDetails };

export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: FaultDetails;

  constructor(code: FaultCode, details: FaultDetails = {}, options: { cause?: unknown } = {}) {
    super(faults[code].says, options);
    this.name = "Fault";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return faults[this.code].status;
  }

  get retryable(): boolean {
    const row: FaultDefinition = faults[this.code];
    return row.retry === true;
  }

  body(): PublicFault {
    return { message: this.message, code: this.code, details: { retryable: this.retryable, ...this.details } };
  }
}

export const toFault = (error: unknown): Fault =>
  error instanceof Fault ? error : new Fault("internal_error", {}, { cause: error });

/** One validation error of an input: the JSON path, the rule that failed, and a sentence. */
export type ValidationIssue = { path: string; code: string; message: string };
