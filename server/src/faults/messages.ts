// Longer messages for codes whose `details` carry a value that the caller needs, such as a limit or the names of wrong
// fields. Without that value, the message of the row in `codes.ts` is shown.
import type { FaultCode, FaultDetails, ValidationIssue } from "./codes.ts";

type DetailedMessage = (details: FaultDetails) => string | false;

export const detailedMessages: Partial<Record<FaultCode, DetailedMessage>> = {
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
