// Everything that can go wrong in public, one row each. What a caller reads (`says`, `details`) and what we log
// (`cause`) never meet: a thrown thing that is not a Fault leaves the house as `internal_error` and nothing more.

/** `status` is the HTTP answer; rows without one happen only to runs. `retry` tells the caller that trying again may help. */
type Row = { status: number; says: string; retry?: boolean };

export const faults = {
  authentication_required: { status: 401, says: "Give an API key or an access token." },
  invalid_api_key: { status: 401, says: "The API key is not valid." },
  invalid_token: { status: 401, says: "The access token is not valid." },
  token_expired: { status: 401, says: "The access token has expired." },
  insufficient_scope: { status: 403, says: "The credential does not have the scope for this." },
  permission_denied: { status: 403, says: "The role does not allow this." },
  tenant_suspended: { status: 403, says: "The tenant has been suspended." },
  ambiguous_credentials: { status: 400, says: "Two different credentials were given." },
  route_not_found: { status: 404, says: "There is nothing at this address." },
  method_not_allowed: { status: 405, says: "This address does not take that method." },
  run_not_found: { status: 404, says: "There is no such run." },
  run_deleted: { status: 410, says: "The run was deleted." },
  model_not_found: { status: 404, says: "There is no such model." },
  prompt_not_found: { status: 404, says: "There is no such prompt." },
  asset_not_found: { status: 404, says: "There is no such file." },
  asset_expired: { status: 410, says: "The file has expired." },
  invalid_json: { status: 400, says: "The body is not valid JSON." },
  validation_error: { status: 400, says: "Some fields are not as they must be." },
  unsupported_parameter: { status: 400, says: "The chosen model does not take this parameter." },
  idempotency_key_invalid: {
    status: 400,
    says: "The Idempotency-Key must be 1 to 255 visible ASCII characters, sent once.",
  },
  idempotency_in_progress: {
    status: 409,
    says: "The first request with this key is still being taken in.",
    retry: true,
  },
  idempotency_key_reused: { status: 422, says: "This Idempotency-Key was used with another request." },
  invalid_cursor: { status: 400, says: "The cursor is not one that this list gave out." },
  request_timeout: { status: 408, says: "The request took too long to arrive.", retry: true },
  payload_too_large: { status: 413, says: "The body is larger than allowed." },
  too_many_parts: { status: 413, says: "The form has more parts than allowed." },
  headers_too_large: { status: 431, says: "The headers are larger than allowed." },
  unsupported_media_type: { status: 415, says: "This content type is not taken here." },
  unsupported_content_encoding: { status: 415, says: "Compressed bodies are not taken." },
  unsupported_image_format: { status: 415, says: "The file is not a JPEG, PNG or WebP image." },
  image_undecodable: { status: 422, says: "The image is damaged." },
  image_too_many_pixels: { status: 422, says: "The image is larger than 50 megapixels or 16,384 pixels a side." },
  image_too_small: { status: 422, says: "The image is smaller than 16 pixels a side." },
  image_animated_not_supported: { status: 422, says: "Animated images are not taken." },
  mask_mismatch: { status: 422, says: "The mask does not have the size of the image." },
  url_not_allowed: { status: 422, says: "This address may not be fetched." },
  webhook_url_not_allowed: { status: 422, says: "Nothing may be sent to this address." },
  source_fetch_failed: { status: 422, says: "The source could not be read.", retry: true },
  source_too_large: { status: 422, says: "The source is larger than allowed." },
  content_refused: { status: 422, says: "The content was refused." },
  run_not_ready: { status: 409, says: "The source run has not ended yet.", retry: true },
  source_run_failed: { status: 409, says: "The source run ended without an image." },
  run_not_cancelable: { status: 409, says: "The run has already ended." },
  run_canceled: { status: 409, says: "The run was canceled." },
  tree_too_deep: { status: 422, says: "The tree of runs would be deeper than 64 levels." },
  insufficient_credits: { status: 402, says: "The balance does not cover what this run would cost." },
  spend_limit_reached: { status: 402, says: "The run would go over a spending limit." },
  conflict: { status: 409, says: "The state has changed meanwhile.", retry: true },
  rate_limited: { status: 429, says: "More was asked for than is allowed in this time.", retry: true },
  concurrency_limit_reached: { status: 429, says: "As many runs are open as are allowed at a time.", retry: true },
  model_unavailable: { status: 503, says: "No provider offers this model at the moment.", retry: true },
  service_overloaded: { status: 503, says: "The service is busy.", retry: true },
  dependency_unavailable: { status: 503, says: "A part of the service cannot be reached.", retry: true },
  asset_unavailable: { status: 502, says: "The file cannot be read from storage.", retry: true },
  internal_error: { status: 500, says: "Something went wrong on our side.", retry: true },
  sync_timeout: { status: 504, says: "The run goes on; it was not finished in time for this answer.", retry: true },
  provider_error: { status: 502, says: "The provider failed.", retry: true },
  provider_rejected_input: { status: 422, says: "The provider refused the parameters." },
  provider_timeout: { status: 504, says: "The provider did not finish in time.", retry: true },
  provider_output_invalid: { status: 502, says: "The provider's result cannot be used.", retry: true },
  provider_outcome_unknown: {
    status: 502,
    says: "It is not known whether the provider took the job. Nothing was charged.",
  },
  storage_failed: { status: 500, says: "The result could not be stored.", retry: true },
  run_timeout: { status: 504, says: "The run did not end before its deadline.", retry: true },
  canceled_by_user: { status: 409, says: "The run was canceled by its owner." },
} as const satisfies Record<string, Row>;

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
    const row: Row = faults[this.code];
    return row.retry === true;
  }

  body(): PublicFault {
    return { message: this.message, code: this.code, details: { retryable: this.retryable, ...this.details } };
  }
}

export const toFault = (thrown: unknown): Fault =>
  thrown instanceof Fault ? thrown : new Fault("internal_error", {}, { cause: thrown });

/** One misfit of an input: where, which rule, in words. */
export type Issue = { path: string; code: string; message: string };
