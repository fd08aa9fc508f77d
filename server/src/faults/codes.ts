// The catalogue of errors: status, message and what a retry can do, one row per code.

/**
 * `status` is the HTTP status of the response. `isRetryable`: the same request can succeed later.
 * `passes`: whether Gesso itself repeats what failed. `by itself`: a dependency is away or full, and the same work
 * succeeds when it is back. `perhaps`: something failed that no request caused; another try may not meet it.
 */
export type FaultDefinition = {
  status: number;
  message: string;
  isRetryable?: boolean;
  passes?: "by itself" | "perhaps";
};

export const faults = {
  authentication_required: {
    status: 401,
    message: "Authentication required. Send an API key or access token in the Authorization header.",
  },
  invalid_api_key: {
    status: 401,
    message: "The API key is invalid, expired or revoked. Check the key or create a new one.",
  },
  invalid_token: { status: 401, message: "The access token is invalid. Request a new token." },
  token_expired: { status: 401, message: "The access token has expired. Refresh it and retry." },
  session_required: {
    status: 401,
    message: "Sign in to the console. The session does not exist, has ended or has expired.",
  },
  sign_in_code_invalid: {
    status: 401,
    message: "The sign-in link was already used, or is older than 60 seconds. Create a new link.",
  },
  sign_in_failed: {
    status: 401,
    message: "The sign-in at the identity provider failed. Start it again; see details.reason.",
  },
  cross_site_request: {
    status: 403,
    message: "The request does not come from the console of this server. Use the API with a key instead.",
  },
  login_too_old: {
    status: 403,
    message: "This operation needs a login of the last 10 minutes. Sign in again, then repeat it.",
  },
  insufficient_scope: { status: 403, message: "The credential lacks a required scope. See details.required." },
  permission_denied: { status: 403, message: "Your role or credential does not permit this operation. See details." },
  tenant_suspended: { status: 403, message: "The tenant is suspended. Contact the operator of this installation." },
  storage_quota_exceeded: {
    status: 403,
    message: "The storage quota of the tenant is used up. Delete runs, or ask the operator to raise the quota.",
  },
  ambiguous_credentials: { status: 400, message: "The request carries two different credentials. Send only one." },
  route_not_found: { status: 404, message: "No endpoint or resource matches this URL. Check the path and the ID." },
  method_not_allowed: { status: 405, message: "This URL does not support the HTTP method. See the Allow header." },
  run_not_found: { status: 404, message: "Run not found. Check the ID and the tenant of your key." },
  run_deleted: { status: 410, message: "The run was deleted. Its files are gone." },
  model_not_found: { status: 404, message: "Model not found, or you have no access to it." },
  prompt_not_found: { status: 404, message: "Prompt not found. Check the ID." },
  asset_not_found: { status: 404, message: "File not found. Check that the URL is complete." },
  asset_expired: { status: 410, message: "The file has expired or was deleted. Create it again." },
  invalid_json: { status: 400, message: "The request body is not a valid JSON object." },
  validation_error: { status: 400, message: "The request is invalid. See details.errors." },
  unsupported_parameter: { status: 400, message: "The model does not support some of the fields. See details.errors." },
  idempotency_key_invalid: {
    status: 400,
    message: "Send one Idempotency-Key header with 1 to 255 visible ASCII characters.",
  },
  idempotency_in_progress: {
    status: 409,
    message: "Another request with this Idempotency-Key is in progress. Retry shortly.",
    isRetryable: true,
  },
  idempotency_key_reused: {
    status: 422,
    message: "This Idempotency-Key was already used with a different request. Use a new key.",
  },
  invalid_cursor: {
    status: 400,
    message: "The cursor is invalid, expired or from another list. Start again without a cursor.",
  },
  event_position_lost: {
    status: 410,
    message: "The event log was restored to an earlier time and lacks this event. Start over without Last-Event-ID.",
  },
  request_timeout: { status: 408, message: "The request did not arrive in time. Send it again.", isRetryable: true },
  payload_too_large: { status: 413, message: "The request body is too large." },
  too_many_parts: { status: 413, message: "The form has too many parts. The limit is 64 fields and 12 files." },
  headers_too_large: { status: 431, message: "The request headers are too large. Send fewer or shorter headers." },
  unsupported_media_type: { status: 415, message: "This Content-Type is not supported here." },
  unsupported_content_encoding: {
    status: 415,
    message: "Compressed request bodies are not supported. Remove Content-Encoding.",
  },
  unsupported_image_format: { status: 415, message: "The file is not a JPEG, PNG or WebP image. Convert it first." },
  image_undecodable: { status: 422, message: "The image is damaged or incomplete. Export it again." },
  image_too_many_pixels: {
    status: 422,
    message: "The image exceeds 50 megapixels or 16,384 pixels per side. Resize it first.",
  },
  image_too_small: { status: 422, message: "The image is smaller than 16 pixels per side. Use a larger image." },
  image_animated_not_supported: { status: 422, message: "Animated images are not supported. Send a single frame." },
  mask_mismatch: { status: 422, message: "The mask and the image must have the same aspect ratio. See details." },
  url_not_allowed: { status: 422, message: "Gesso may not fetch this URL. Use a public http or https URL." },
  webhook_url_not_allowed: { status: 422, message: "Gesso may not send webhooks to this URL. Use a public https URL." },
  source_fetch_failed: {
    status: 422,
    message: "Gesso could not fetch or use the source image. See details.reason.",
    isRetryable: true,
  },
  source_too_large: { status: 422, message: "The source image is too large." },
  content_refused: {
    status: 422,
    message: "The provider's content policy rejected the request. Change the prompt or the images.",
  },
  run_not_ready: {
    status: 409,
    message: "The source run has not finished. Wait for it, then retry.",
    isRetryable: true,
  },
  source_run_failed: { status: 409, message: "The source run has no image. Use another run." },
  output_not_found: {
    status: 422,
    message: "The source run has no output with this index. See details.output_count.",
  },
  source_not_image: {
    status: 422,
    message: "The source is not an image. To use a frame of a video, send its run ID with frame first or last.",
  },
  frame_unavailable: {
    status: 422,
    message: "Gesso could not read a frame of the source video. Use an image, or another video; see details.reason.",
  },
  run_not_cancelable: { status: 409, message: "The run has already ended. There is nothing to cancel." },
  run_not_repeatable: {
    status: 409,
    message: "Gesso does not know the request of this run: it is an upload or from an earlier version.",
  },
  run_canceled: { status: 409, message: "The run was canceled before it produced an image." },
  tree_too_deep: { status: 422, message: "A run tree has at most 64 levels. Upload the image to start a new tree." },
  insufficient_credits: { status: 402, message: "The balance is too low for this run. Add credit first." },
  price_unknown: {
    status: 402,
    message:
      "The price of this model is unknown, and a spending limit applies. Choose another model, or ask the operator to set its price.",
  },
  spend_limit_reached: { status: 402, message: "The run would exceed a spending limit. See details." },
  confirmation_required: {
    status: 402,
    message: "The run costs more than a tool may spend without asking. Repeat the call with confirm_cost.",
  },
  conflict: {
    status: 409,
    message: "The current state does not allow this operation. See details.reason.",
    isRetryable: true,
  },
  rate_limited: { status: 429, message: "Rate limit exceeded. Retry later.", isRetryable: true },
  concurrency_limit_reached: {
    status: 429,
    message: "Too many open runs. Wait until one ends, then retry.",
    isRetryable: true,
  },
  model_unavailable: {
    status: 503,
    message: "No provider offers this model right now. Retry later or choose another model.",
    isRetryable: true,
  },
  service_overloaded: { status: 503, message: "The service is overloaded. Retry shortly.", isRetryable: true },
  dependency_unavailable: {
    status: 503,
    message: "A required service is unavailable. Retry shortly; check /readyz if it lasts.",
    isRetryable: true,
    passes: "by itself",
  },
  asset_unavailable: {
    status: 502,
    message: "Storage did not return the file. Retry shortly.",
    isRetryable: true,
    passes: "by itself",
  },
  internal_error: {
    status: 500,
    message: "Internal error. Retry, and report the request ID if it persists.",
    isRetryable: true,
    passes: "perhaps",
  },
  sync_timeout: { status: 504, message: "The run is still in progress. Read it by its ID later.", isRetryable: true },
  unusable_provider_key: { status: 422, message: "The provider's key does not work. Nothing was saved. See details." },
  key_belongs_in_settings: {
    status: 409,
    message: "Keys of providers are settings of this server. Add the lines of details.setup and restart it.",
  },
  provider_error: {
    status: 502,
    message: "The provider failed to process the job. Create the run again.",
    isRetryable: true,
  },
  provider_rejected_input: {
    status: 422,
    message: "The provider rejected the parameters. Change the request; see details.reason.",
  },
  provider_timeout: {
    status: 504,
    message: "The provider did not finish in time. Create the run again.",
    isRetryable: true,
  },
  provider_output_invalid: {
    status: 502,
    message: "The provider returned an unusable result. Create the run again.",
    isRetryable: true,
  },
  provider_outcome_unknown: {
    status: 502,
    message: "The provider's response was lost, and the outcome of the job is unknown. You were not charged.",
  },
  storage_failed: {
    status: 500,
    message: "Gesso could not store the result. Create the run again.",
    isRetryable: true,
    passes: "by itself",
  },
  run_timeout: {
    status: 504,
    message: "The run did not finish before its deadline. Create it again.",
    isRetryable: true,
  },
  canceled_by_user: { status: 409, message: "The run was canceled at your request." },
} as const satisfies Record<string, FaultDefinition>;

export type FaultCode = keyof typeof faults;
export type FaultDetails = Record<string, unknown>;

/** The error as a response body shows it and as a failed run stores it. */
export type PublicFault = { message: string; code: FaultCode; details: FaultDetails };

/** When an error happens and how to fix it, in Markdown. */
export type FaultGuidance = { when: string; fix: string };

/** One validation error of an input: a JSON Pointer to the field, the code of the rule, and a sentence. */
export type ValidationIssue = { path: string; code: string; message: string };
