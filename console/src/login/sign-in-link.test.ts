import { expect, it } from "vitest";
import { parseSignInLink } from "./sign-in-link.ts";

it("reads the one-time code of the fragment", () => {
  expect(parseSignInLink({ hash: "#in=abc_DEF-123", search: "" })).toEqual({ code: "abc_DEF-123" });
});

it("ignores other fragments", () => {
  expect(parseSignInLink({ hash: "#out=abc", search: "" })).toEqual({});
  expect(parseSignInLink({ hash: "#in=<script>", search: "" })).toEqual({});
});

it("reads why an identity provider's sign-in failed", () => {
  expect(parseSignInLink({ hash: "", search: "?sign_in_error=permission_denied&request_id=req_1" })).toEqual({
    refusal: { code: "permission_denied", requestId: "req_1", retryAfterSeconds: undefined },
  });
});

it("shows no sentence that a link carries as a request ID", () => {
  const link = parseSignInLink({ hash: "", search: "?sign_in_error=x&request_id=Call+555-0100+to+sign+in" });
  expect(link.refusal?.requestId).toBeUndefined();
});
