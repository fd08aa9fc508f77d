// The catalogue of errors, one row per code. Callers get `message` and `details`; `cause` goes to the log only. An error
// that is not a Fault reaches callers as `internal_error` without further details.

/** `status` is the HTTP answer; rows without one happen only to runs. `retry` tells the caller that trying again may help. */
type FaultDefinition = { status: number; message: string; isRetryable?: boolean };

export const faults = {
  authentication_required: { status: 401, message: "Authentication required. Send an API key or an access token." },
  invalid_api_key: { status: 401, message: "The API key is not valid." },
  invalid_token: { status: 401, message: "The access token is not valid." },
  token_expired: { status: 401, message: "The access token has expired." },
  insufficient_scope: { status: 403, message: "The credential does not have the scope for this." },
  permission_denied: { status: 403, message: "The role does not allow this." },
  tenant_suspended: { status: 403, message: "The tenant has been suspended." },
  ambiguous_credentials: { status: 400, message: "Two different credentials were given." },
  route_not_found: { status: 404, message: "No operation exists at this URL." },
  method_not_allowed: { status: 405, message: "This URL does not support the request method." },
  run_not_found: { status: 404, message: "There is no such run." },
  run_deleted: { status: 410, message: "The run was deleted." },
  model_not_found: { status: 404, message: "There is no such model." },
  prompt_not_found: { status: 404, message: "There is no such prompt." },
  asset_not_found: { status: 404, message: "There is no such file." },
  asset_expired: { status: 410, message: "The file has expired." },
  invalid_json: { status: 400, message: "The body is not valid JSON." },
  validation_error: { status: 400, message: "Some fields are invalid. See details.errors." },
  unsupported_parameter: { status: 400, message: "The selected model does not support this parameter." },
  idempotency_key_invalid: {
    status: 400,
    message: "The Idempotency-Key must be 1 to 255 visible ASCII characters, sent once.",
  },
  idempotency_in_progress: {
    status: 409,
    message: "The first request with this Idempotency-Key is still being processed. Retry shortly.",
    isRetryable: true,
  },
  idempotency_key_reused: {
    status: 422,
    message: "This Idempotency-Key was used with a different request. Use a new key.",
  },
  invalid_cursor: { status: 400, message: "The cursor is invalid or expired. Start again without a cursor." },
  request_timeout: { status: 408, message: "The request took too long to arrive.", isRetryable: true },
  payload_too_large: { status: 413, message: "The body is larger than allowed." },
  too_many_parts: { status: 413, message: "The form has more parts than allowed." },
  headers_too_large: { status: 431, message: "The headers are larger than allowed." },
  unsupported_media_type: { status: 415, message: "This content type is not supported." },
  unsupported_content_encoding: { status: 415, message: "Compressed request bodies are not supported." },
  unsupported_image_format: { status: 415, message: "The file is not a JPEG, PNG or WebP image." },
  image_undecodable: { status: 422, message: "The image is damaged." },
  image_too_many_pixels: { status: 422, message: "The image is larger than 50 megapixels or 16,384 pixels a side." },
  image_too_small: { status: 422, message: "The image is smaller than 16 pixels a side." },
  image_animated_not_supported: { status: 422, message: "Animated images are not supported." },
  mask_mismatch: { status: 422, message: "The mask does not have the size of the image." },
  url_not_allowed: { status: 422, message: "This URL is not allowed as a source." },
  webhook_url_not_allowed: { status: 422, message: "This URL is not allowed as a webhook." },
  source_fetch_failed: { status: 422, message: "The source could not be read.", isRetryable: true },
  source_too_large: { status: 422, message: "The source is larger than allowed." },
  content_refused: { status: 422, message: "The content was refused." },
  run_not_ready: { status: 409, message: "The source run has not ended yet.", isRetryable: true },
  source_run_failed: { status: 409, message: "The source run ended without an image." },
  run_not_cancelable: { status: 409, message: "The run has already ended." },
  run_canceled: { status: 409, message: "The run was canceled." },
  tree_too_deep: { status: 422, message: "The tree of runs would be deeper than 64 levels." },
  insufficient_credits: { status: 402, message: "The balance is lower than the estimated cost of this run." },
  spend_limit_reached: { status: 402, message: "The run would exceed a spending limit." },
  conflict: { status: 409, message: "The resource was changed by another request. Read it again.", isRetryable: true },
  rate_limited: {
    status: 429,
    message: "Rate limit exceeded. Retry after the time in the Retry-After header.",
    isRetryable: true,
  },
  concurrency_limit_reached: {
    status: 429,
    message: "The limit of open runs is reached. Retry when a run has ended.",
    isRetryable: true,
  },
  model_unavailable: { status: 503, message: "No provider offers this model at the moment.", isRetryable: true },
  service_overloaded: { status: 503, message: "The service is busy.", isRetryable: true },
  dependency_unavailable: { status: 503, message: "A dependency of the service is unavailable.", isRetryable: true },
  asset_unavailable: { status: 502, message: "The file cannot be read from storage.", isRetryable: true },
  internal_error: { status: 500, message: "Something went wrong on our side.", isRetryable: true },
  sync_timeout: {
    status: 504,
    message: "The wait timed out. The run continues; read it by its run_id.",
    isRetryable: true,
  },
  provider_error: { status: 502, message: "The provider failed.", isRetryable: true },
  provider_rejected_input: { status: 422, message: "The provider refused the parameters." },
  provider_timeout: { status: 504, message: "The provider did not finish in time.", isRetryable: true },
  provider_output_invalid: { status: 502, message: "The provider's result cannot be used.", isRetryable: true },
  provider_outcome_unknown: {
    status: 502,
    message: "It is unknown whether the provider accepted the job. Nothing was charged.",
  },
  storage_failed: { status: 500, message: "The result could not be stored.", isRetryable: true },
  run_timeout: { status: 504, message: "The run did not end before its deadline.", isRetryable: true },
  canceled_by_user: { status: 409, message: "The run was canceled by its owner." },
} as const satisfies Record<string, FaultDefinition>;

export type FaultCode = keyof typeof faults;
export type FaultDetails = Record<string, unknown>;

/** What is kept with a run that failed, and what a body carries. */
export type PublicFault = { message: string; code: FaultCode; details: FaultDetails };

export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: FaultDetails;

  constructor(code: FaultCode, details: FaultDetails = {}, options: { cause?: unknown } = {}) {
    super(faults[code].message, options);
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

export const toFault = (error: unknown): Fault =>
  error instanceof Fault ? error : new Fault("internal_error", {}, { cause: error });

/** One validation error of an input: the JSON path, the rule that failed, and a sentence. */
export type ValidationIssue = { path: string; code: string; message: string };
