// Checks that a response is no failure of the server, and that an error has the standard body with a code of the
// catalogue in the contract.

export type ReceivedResponse = { status: number; headers: Pick<Headers, "get">; body: any };

/** Returns a function that describes what is wrong with a response; undefined if nothing is. */
export function createErrorBodyCheck(contract: {
  "x-errors": Record<string, { status: number }>;
}): (response: ReceivedResponse) => string | undefined {
  const catalogue = contract["x-errors"];
  return ({ status, headers, body }) => {
    if (status < 400) return undefined;
    if (status >= 500) return `answered ${status}`;
    if (typeof body?.message !== "string" || body.message === "") return "no message";
    if (catalogue[body.code]?.status !== status) return `${body.code} is no code of status ${status}`;
    if (body.details?.request_id !== headers.get("x-request-id")) return "details do not name the request";
    if (typeof body.details.retryable !== "boolean") return "details do not say whether to try again";
    if (body.code === "validation_error" && !(body.details.errors?.length > 0)) return "no validation error is listed";
    return undefined;
  };
}
