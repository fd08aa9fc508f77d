// Renders a thrown value for the log. Errors of providers quote the request, and errors of parsers and of PostgreSQL
// quote the data, so only an allow-list of fields is logged: types, codes, statuses, request ids, names in the schema,
// stack frames, and messages of errors that quote no data.

type LoggedError = Record<string, unknown>;

/** Fields of a provider's error that identify it. All other fields may quote the prompt. */
const PROVIDER_FIELDS = [
  ...["status", "statusCode", "code", "type", "error_type", "error_code", "failureCode", "failure_code"],
  ...["request_id", "requestId", "reason"],
];
/** A code or an id. A sentence has spaces. */
const TOKEN = /^[A-Za-z0-9_.:-]{1,64}$/;
const MAX_DEPTH = 5;

/** Fields of an error of PostgreSQL that name parts of the schema. `message`, `detail` and `where` can have values. */
const DATABASE_FIELDS = ["code", "severity", "schema", "table", "column", "constraint", "dataType", "routine"];
/** SQLSTATE classes whose messages name no values: connection, transaction, access, resources, operator, raised. */
const SAFE_SQLSTATES = /^(08|25|40|42|53|55|57|P0)/;

export function renderLoggedError(thrown: unknown, depth = 0): LoggedError {
  if (depth > MAX_DEPTH || thrown === undefined || thrown === null) return {};
  if (thrown instanceof Error) return renderError(thrown, depth);
  if (typeof thrown !== "object") return { type: typeof thrown };
  if ("kind" in thrown) return renderProviderFailure(thrown as LoggedError, depth);
  return pickFields(thrown as LoggedError, PROVIDER_FIELDS);
}

function renderError(error: Error, depth: number): LoggedError {
  const { name, cause } = error;
  const fields = error as unknown as LoggedError;
  const frames = error.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  return {
    type: name === "error" && "severity" in error ? "DatabaseError" : name,
    ...("severity" in error ? pickFields(fields, DATABASE_FIELDS) : pickFields(fields, ["code", "status"])),
    ...(quotesNoData(error) && { message: error.message }),
    ...(frames && { stack: frames.join("\n") }),
    ...("issues" in error && { issues: renderIssues(fields.issues) }),
    ...(cause !== undefined && { cause: renderLoggedError(cause, depth + 1) }),
  };
}

/** A parser quotes its input, a schema quotes keys, and PostgreSQL quotes values that it could not convert. */
function quotesNoData(error: Error): boolean {
  if ("severity" in error) return SAFE_SQLSTATES.test(String((error as { code?: unknown }).code));
  return !(error instanceof SyntaxError || "issues" in error);
}

/** `cause` is what the provider sent: its text, its parsed body, or the error of the connection. */
function renderProviderFailure({ kind, status, retryAfterSeconds, cause }: LoggedError, depth: number): LoggedError {
  return {
    ...pickFields({ kind, status, retryAfterSeconds }, ["kind", "status", "retryAfterSeconds"]),
    ...(typeof cause === "string" ? { provider: renderProviderText(cause) } : {}),
    ...(typeof cause === "object" && cause !== null && { cause: renderLoggedError(cause, depth + 1) }),
  };
}

/** The identifying fields of an error body, at its top or below `error`; of any other text only the length. */
function renderProviderText(text: string): LoggedError {
  try {
    const body = JSON.parse(text) as LoggedError | null;
    const inner = body?.error;
    return {
      length: text.length,
      ...pickFields(body ?? {}, PROVIDER_FIELDS),
      ...(typeof inner === "object" && inner !== null && pickFields(inner as LoggedError, PROVIDER_FIELDS)),
    };
  } catch {
    return { length: text.length };
  }
}

const renderIssues = (issues: unknown) =>
  (Array.isArray(issues) ? issues : []).slice(0, 20).map((issue: LoggedError) => ({
    ...pickFields(issue, ["code", "expected"]),
    path: (Array.isArray(issue.path) ? issue.path : []).filter((part) => TOKEN.test(String(part))).join("."),
  }));

const pickFields = (source: LoggedError, names: string[]): LoggedError =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = source[name];
      return typeof value === "number" || (typeof value === "string" && TOKEN.test(value)) ? [[name, value]] : [];
    }),
  );
