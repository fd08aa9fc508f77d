// Generates the reference page of errors from the fault catalogue: status, message, when it happens and how to fix it.
import { errorFromResponse } from "../../sdk/src/error-response.ts";
import { Fault, type FaultCode, faults } from "../../server/src/faults/faults.ts";
import { faultGuidance } from "../../server/src/faults/guidance.ts";
import { page, table } from "./markdown.ts";

const INTRODUCTION = `Every error response has the same JSON body. Branch on \`code\`: codes never change. \`message\` is for people and can change.

\`\`\`json
{
  "message": "2 fields are invalid: width, colour. See details.errors.",
  "code": "validation_error",
  "details": {
    "request_id": "req_48604ca96f5e4465b661bf42390791c8",
    "retryable": false,
    "errors": [
      { "path": "/width", "code": "out_of_range", "message": "Must be at least 64." },
      { "path": "/colour", "code": "unknown_field", "message": "Unknown field." }
    ]
  }
}
\`\`\`

- \`details.retryable\` tells you whether the same request can succeed later. If it is \`true\`, \`Retry-After\` has the delay
  in seconds.
- \`details.request_id\` equals the \`X-Request-Id\` header. Include it when you ask for help.
- A failed run carries the same three fields in \`error\`. The status listed here then applies to a request that waited for
  the run.
- With \`Accept: application/problem+json\`, the body also carries the fields of RFC 9457.

In TypeScript, each family of codes is a class with \`code\`, \`details\`, \`requestId\`, \`runId\` and \`idempotencyKey\`:

\`\`\`ts
import { BudgetError, createClient, RateLimitError, RunFailedError, ValidationError } from "@gesso/client";

const client = createClient();
try {
  await client.images.generate({ prompt: "a kite", max_cost: 0.1 }).wait();
} catch (error) {
  if (ValidationError.isInstance(error)) console.error(error.fieldErrors);
  else if (RateLimitError.isInstance(error)) console.error(error.retryAfter);
  else if (BudgetError.isInstance(error)) console.error(error.details);
  else if (RunFailedError.isInstance(error)) console.error(error.code, error.runId);
  else throw error;
}
\`\`\``;

/** Values that a message shows, for codes whose message depends on `details`. */
const EXAMPLE_DETAILS: Partial<Record<FaultCode, Record<string, unknown>>> = {
  insufficient_scope: { required: "images:write" },
  validation_error: { errors: [{ path: "/width" }, { path: "/colour" }] },
  unsupported_parameter: { errors: [{ path: "/steps" }, { path: "/guidance" }] },
  source_too_large: { max_bytes: 26_214_400 },
  unsupported_media_type: { accepted: ["json", "form"] },
  rate_limited: { retry_after: 12 },
  service_overloaded: { retry_after: 2 },
  model_unavailable: { model: "flux-dev" },
};

/** The client's class for a code, found by giving the client such a response. */
function clientClassOf(code: FaultCode): string {
  if (code === "canceled_by_user") return "RunCanceledError";
  const { message, details } = new Fault(code, { run_id: "00000000-0000-0000-0000-000000000000" }).body();
  const response = new Response(null, { status: faults[code].status });
  return errorFromResponse({ response, text: JSON.stringify({ message, code, details }) }).name;
}

function sectionOf(code: FaultCode): string {
  const { status } = faults[code];
  const { retryable, message } = new Fault(code, EXAMPLE_DETAILS[code]);
  const { when, fix } = faultGuidance[code];
  return [
    // An explicit anchor: the client links to it, and Markdown renderers derive different ones from headings.
    `<a id="${code}"></a>`,
    `## \`${code}\``,
    `**${status} · ${retryable ? "retryable" : "not retryable"} · \`${clientClassOf(code)}\`**`,
    `> ${message}`,
    `**When.** ${when}`,
    `**Fix.** ${fix}`,
  ].join("\n\n");
}

export function generateErrorsPage(): string {
  const codes = Object.keys(faults) as FaultCode[];
  const overview = table(
    ["Code", "Status", "Retryable"],
    codes.map((code) => [
      `[\`${code}\`](#${code})`,
      String(faults[code].status),
      new Fault(code).retryable ? "yes" : "no",
    ]),
  );
  return page("Errors", INTRODUCTION, "## All codes", overview, ...codes.map(sectionOf));
}
