import { expect, it } from "vitest";
import { oidcUrl, parseRefusal } from "./session.ts";

const responseWith = (headers: Record<string, string>) => ({ headers: new Headers(headers) });

it("reads code, request ID and wait of a refused sign-in", () => {
  const refusal = parseRefusal(responseWith({ "x-request-id": "req_1", "retry-after": "42" }), {
    code: "rate_limited",
  });
  expect(refusal).toEqual({ code: "rate_limited", requestId: "req_1", retryAfterSeconds: 42 });
});

it("falls back to the details of the body", () => {
  const body = { code: "invalid_api_key", details: { request_id: "req_2" } };
  expect(parseRefusal(responseWith({}), body)).toEqual({
    code: "invalid_api_key",
    requestId: "req_2",
    retryAfterSeconds: undefined,
  });
});

it("returns from an identity provider only to pages of the console", () => {
  expect(oidcUrl("/console/session/oidc/corp", "/console/keys")).toBe(
    "/console/session/oidc/corp?return_to=%2Fconsole%2Fkeys",
  );
  expect(oidcUrl("/x", "https://example.com")).toBe("/x?return_to=%2Fconsole%2F");
});
