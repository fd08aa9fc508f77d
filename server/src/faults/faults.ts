// The catalogue of errors, one row per code. A response carries `code`, `message` and `details`; `cause` is only
// logged. Any other thrown value reaches the caller as `internal_error` without further details.

/**
 * `status` is the HTTP status of the response. `isRetryable`: the same request can succeed later.
 * `passes`: whether Gesso itself repeats what failed. `by itself`: a dependency is away or full, and the same work
 * succeeds when it is back. `perhaps`: something failed that no request caused; another try may not meet it.
 */
type FaultDefinition = { status: number; message: string; isRetryable?: boolean; passes?: "by itself" | "perhaps" };

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

type DetailedMessage = (details: FaultDetails) => string | false;

/** Longer messages for codes whose `details` carry the value that the caller needs. */
const detailedMessages: Partial<Record<FaultCode, DetailedMessage>> = {
  insufficient_scope: ({ required }) => required !== undefined && `The credential lacks the scope ${listed(required)}.`,
  validation_error: ({ errors, error_count }) => describeInvalidFields(fieldNames(errors), error_count),
  unsupported_parameter({ errors }) {
    const names = fieldNames(errors);
    const isListable = names.length > 0 && names.length <= MAX_LISTED_FIELDS;
    return isListable && `The model does not support these fields: ${names.join(", ")}. See details.errors.`;
  },
  payload_too_large: ({ max_bytes }) =>
    max_bytes !== undefined && `The request body is too large. The limit is ${max_bytes} bytes.`,
  too_many_parts: ({ max_fields, max_files }) =>
    max_files !== undefined && `The form has too many parts. The limit is ${max_fields} fields and ${max_files} files.`,
  url_not_allowed(details) {
    const problems = describeUrlProblems(details);
    return (
      problems &&
      `Gesso may not fetch this URL: ${problems}. Use a public http or https URL, or upload the image and use its run ID.`
    );
  },
  webhook_url_not_allowed(details) {
    const problems = describeUrlProblems(details);
    return (
      problems &&
      `Gesso may not send webhooks to this URL: ${problems}. Use a public https URL, or receive them on your machine with: gesso webhooks listen`
    );
  },
  source_too_large: ({ max_bytes }) =>
    max_bytes !== undefined && `The source image is too large. The limit is ${max_bytes} bytes.`,
  unsupported_media_type: ({ accepted }) =>
    accepted !== undefined && `This Content-Type is not supported here. Send ${listedMediaTypes(accepted)}.`,
  confirmation_required: ({ estimate, confirm_above, confirm_cost_max }) =>
    estimate !== undefined &&
    `The run would cost $${estimate}, and a tool may spend $${confirm_above} without asking. ${
      Number(estimate) > Number(confirm_cost_max)
        ? `confirm_cost can confirm at most $${confirm_cost_max}. Make a cheaper request, or ask the user to create the run with another client.`
        : `Ask the user, then repeat the call with confirm_cost: ${estimate}.`
    }`,
  image_too_many_pixels: ({ width, height, factor }) =>
    factor !== undefined &&
    `Enlarged ${factor} times, the image would have ${width}x${height} pixels. The maximum is 50 megapixels and 16,384 pixels per side. Use a smaller factor or a smaller image.`,
  mask_mismatch: describeMaskMismatch,
  unusable_provider_key: ({ provider, key, reason }) =>
    provider !== undefined &&
    `${key === "refused" ? `${provider} refused the key` : `The key of ${provider} was not checked`}: ${reason}. Nothing was saved.`,
  provider_rejected_input: (details) => details.reason === "mask_mismatch" && describeMaskMismatch(details),
  storage_failed: ({ reason, max_bytes, setting }) => {
    if (reason === "disk_full")
      return "Gesso could not store the result, because its storage is full. Create the run again when there is space.";
    return (
      reason === "output_too_large" &&
      `The result has more than ${max_bytes} bytes, the most that Gesso stores. Ask the operator to raise ${setting}, then create the run again.`
    );
  },
  rate_limited: ({ retry_after }) => retry_after !== undefined && `Rate limit exceeded. Retry after ${retry_after} s.`,
  service_overloaded: ({ retry_after }) =>
    retry_after !== undefined && `The service is overloaded. Retry after ${retry_after} s.`,
  model_unavailable: ({ model }) =>
    model !== undefined && `No provider offers ${model} right now. Retry later or choose another model.`,
};

const MAX_LISTED_FIELDS = 10;

const URL_PROBLEMS: Record<string, string> = {
  url: "it is not a valid URL",
  scheme: "its scheme is not allowed",
  credentials: "it contains a user name or a password",
  port: "its port is not allowed",
  host: "its host is internal",
  address: "its IP address is private",
  downgrade: "it redirects from https to http",
};

/** Such as "its host is internal, and its port is not allowed". False if a reason has no words. */
function describeUrlProblems({ reason, reasons }: FaultDetails): string | false {
  const problems = [reasons ?? reason].flat().map((each) => URL_PROBLEMS[String(each)]);
  if (problems.some((problem) => problem === undefined)) return false;
  return problems.length > 1 ? `${problems.slice(0, -1).join(", ")}, and ${problems.at(-1)}` : problems[0]!;
}

function describeMaskMismatch({ image, mask }: FaultDetails): string | false {
  if (image === undefined || mask === undefined) return false;
  const pixels = (size: unknown) => `${(size as ImagePixels).width}x${(size as ImagePixels).height} pixels`;
  return `The mask has ${pixels(mask)} and the image ${pixels(image)}. Both must have the same aspect ratio. Export the mask in the shape of the image.`;
}
type ImagePixels = { width: number; height: number };

function describeInvalidFields(names: string[], errorCount: unknown): string | false {
  if (names.length === 0) return false;
  if (errorCount !== undefined) return `${errorCount} fields are invalid. See details.errors.`;
  const count = names.length === 1 ? "1 field is invalid" : `${names.length} fields are invalid`;
  return `${count}${names.length <= MAX_LISTED_FIELDS ? `: ${names.join(", ")}` : ""}. See details.errors.`;
}

/** Top-level fields of the issues, each once. Empty if a name could not be shown safely in a line of text. */
function fieldNames(issues: unknown): string[] {
  const paths = (Array.isArray(issues) ? (issues as ValidationIssue[]) : []).map(
    ({ path }) => path.split("/")[1] ?? "",
  );
  const names = [...new Set(paths.filter((name) => name !== ""))];
  return names.every((name) => /^[\w.-]{1,64}$/.test(name)) ? names : [];
}

const listed = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value));

const MEDIA_TYPES: Record<string, string> = { json: "application/json", form: "multipart/form-data" };
const listedMediaTypes = (bodies: unknown) =>
  (Array.isArray(bodies) ? bodies : [bodies]).map((body) => MEDIA_TYPES[String(body)] ?? String(body)).join(" or ");

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

/** One validation error of an input: a JSON Pointer to the field, the code of the rule, and a sentence. */
export type ValidationIssue = { path: string; code: string; message: string };
