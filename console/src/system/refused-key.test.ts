import { GessoError } from "@gesso/client";
import { expect, it } from "vitest";
import { readRefusal } from "./refused-key.ts";

const error = (code: string, details: Record<string, unknown>) =>
  new GessoError("422 message", { status: 422, code, details, requestId: "req_1" });

it("says in the words of the page that the key was refused, or why it was not checked", () => {
  const refused = error("unusable_provider_key", {
    provider: "fal",
    key: "refused",
    reason: "HTTP 401",
    fix: "check FAL_KEY",
  });
  expect(readRefusal(refused)).toMatch(/^fal refused the key \(HTTP 401\)\. Nothing was saved\. Copy it again .*req_1/);
  const unknown = error("unusable_provider_key", {
    provider: "fal",
    key: "unknown",
    reason: "HTTP 503",
    fix: "try again later",
  });
  expect(readRefusal(unknown)).toMatch(
    /^The key was not checked: HTTP 503\. Nothing was saved\. Next: try again later\. .*req_1/,
  );
});

it("leaves all other errors to their notice", () => {
  expect(readRefusal(error("key_belongs_in_settings", {}))).toBeUndefined();
  expect(readRefusal(new Error("offline"))).toBeUndefined();
  expect(readRefusal(undefined)).toBeUndefined();
});
