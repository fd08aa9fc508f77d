import { expect, it } from "vitest";
import { Fault } from "../../faults/faults.ts";
import { toErrorResponse, unusedFieldsFault } from "./openai-error.ts";

it.each([
  [new Fault("invalid_api_key"), 401, "invalid_request_error", "invalid_api_key", undefined],
  [new Fault("insufficient_credits"), 429, "insufficient_quota", "insufficient_quota", false],
  [new Fault("spend_limit_reached"), 429, "insufficient_quota", "insufficient_quota", false],
  [new Fault("rate_limited"), 429, "rate_limit_error", "rate_limit_exceeded", undefined],
  [new Fault("content_refused"), 400, "image_generation_user_error", "moderation_blocked", undefined],
  [new Fault("insufficient_scope"), 403, "permission_error", "insufficient_scope", undefined],
  [new Fault("model_unavailable"), 503, "server_error", "model_unavailable", false],
  [new Fault("sync_timeout"), 504, "server_error", "sync_timeout", true],
  [new Error("secret"), 500, "server_error", "internal_error", undefined],
])("%s is %i with the type %s", (thrown, status, type, code, shouldRetry) => {
  const response = toErrorResponse(thrown);
  expect(response).toMatchObject({ status, error: { type, code, param: null } });
  expect(response.shouldRetry).toBe(shouldRetry);
  expect(response.error.message).not.toContain("secret");
});

it("an image that cannot be used is an invalid parameter", () => {
  expect(toErrorResponse(new Fault("unsupported_image_format"))).toMatchObject({
    status: 400,
    error: { type: "invalid_request_error", code: "unsupported_image_format", param: "image" },
  });
});

it("the end of a run is final: a client that repeats its request would get the same run", () => {
  expect(toErrorResponse(new Fault("provider_error", { run_id: "r-1" }), { isFinal: true })).toMatchObject({
    status: 502,
    shouldRetry: false,
    error: { message: expect.stringContaining("Run: r-1.") },
  });
});

it("errors of fields have the names of OpenAI's parameters", () => {
  const errors = [
    { path: "/batch_size", code: "out_of_range", message: "Must be at most 4." },
    { path: "/images/3", code: "invalid_type", message: "Wrong." },
  ];
  expect(toErrorResponse(new Fault("validation_error", { errors })).error).toEqual({
    message: "n: Must be at most 4. image: Wrong.",
    type: "invalid_request_error",
    code: "out_of_range",
    param: "n",
  });
  expect(toErrorResponse(unusedFieldsFault(["style", "quality"]))).toMatchObject({
    status: 400,
    error: { code: "unsupported_parameter", param: "style" },
  });
});
