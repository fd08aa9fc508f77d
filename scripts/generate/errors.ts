// The page of errors, from the catalogue of faults.
import { faults } from "../../server/src/faults.ts";
import { code, page, table } from "./markdown.ts";

const BODY = `Every error response has the same body:

\`\`\`json
{
  "message": "Some fields are invalid. See details.errors.",
  "code": "validation_error",
  "details": {
    "request_id": "req_...",
    "retryable": false,
    "errors": [{ "path": "/prompt", "code": "required", "message": "This field is required." }]
  }
}
\`\`\`

Programs read \`code\`; it is never renamed. \`message\` is for people. \`details.retryable\` says whether the same request
may work later, and then \`Retry-After\` says when. With \`Accept: application/problem+json\` the same answer comes as
problem details (RFC 9457). The \`error\` of a run that failed has the same three fields; there the status is what an
answer would have had that waited for the run.`;

export function generateErrorsPage(): string {
  const rows = Object.entries(faults).map(([name, row]) => [
    `<a id="${name}"></a>${code(name)}`,
    String(row.status),
    "retry" in row && row.retry ? "yes" : "no",
    row.message,
  ]);
  return page("Errors", BODY, table(["Code", "Status", "Retryable", "Message"], rows));
}
