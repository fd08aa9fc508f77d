import { describe, expect, it } from "vitest";
import { Fault, type FaultCode, faults, toFault } from "./faults.ts";
import { faultGuidance } from "./guidance.ts";

const codes = Object.keys(faults) as FaultCode[];

describe("the catalogue", () => {
  it.each(codes)("%s has an error status, a message, and guidance of whole sentences", (code) => {
    const row = faults[code];
    expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    expect(row.message).toMatch(/^[A-Z].*\.$/);
    for (const text of Object.values(faultGuidance[code])) expect(text).toMatch(/^[A-Z`].*\.$/);
  });

  it("has no message twice", () => {
    const messages = codes.map((code) => faults[code].message);
    expect(new Set(messages).size).toBe(messages.length);
  });

  it("marks no error as retryable that the caller must fix first", () => {
    const permanent = codes.filter((code) => [400, 401, 404, 405, 410, 413, 415].includes(faults[code].status));
    expect(permanent.filter((code) => new Fault(code).retryable)).toEqual([]);
  });
});

describe("a fault", () => {
  it("has message, code and details in its body, and whether a retry can help", () => {
    const fault = new Fault("run_not_ready", { run_id: "r1" });
    expect(fault.status).toBe(409);
    expect(fault.body()).toEqual({
      message: faults.run_not_ready.message,
      code: "run_not_ready",
      details: { retryable: true, run_id: "r1" },
    });
  });

  it("has its cause for the log and not in the body", () => {
    const fault = new Fault("provider_error", {}, { cause: new Error("key sk-123 was refused by 10.0.0.7") });
    expect(fault.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(fault.body())).not.toMatch(/sk-123|10\.0\.0\.7/);
    expect(fault.message).toBe(faults.provider_error.message);
  });
});

describe("a message with details", () => {
  const issue = (path: string) => ({ path, code: "required", message: "This field is required." });

  it.each([
    ["validation_error", { errors: [issue("/width")] }, "1 field is invalid: width. See details.errors."],
    [
      "validation_error",
      { errors: [issue("/a/0"), issue("/a/1"), issue("/b")] },
      "2 fields are invalid: a, b. See details.errors.",
    ],
    [
      "validation_error",
      { errors: Array.from({ length: 11 }, (_, n) => issue(`/f${n}`)) },
      "11 fields are invalid. See details.errors.",
    ],
    [
      "validation_error",
      { errors: Array.from({ length: 19_000 }, (_, n) => issue(`/f${n}`)) },
      "19000 fields are invalid. See details.errors.",
    ],
    [
      "confirmation_required",
      { estimate: 2, confirm_above: 1, confirm_cost_max: 5 },
      "The run would cost $2, and a tool may spend $1 without asking. Ask the user, then repeat the call with confirm_cost: 2.",
    ],
    [
      "confirmation_required",
      { estimate: 8, confirm_above: 1, confirm_cost_max: 5 },
      "The run would cost $8, and a tool may spend $1 without asking. confirm_cost can confirm at most $5. Make a cheaper request, or ask the user to create the run with another client.",
    ],
    [
      "unsupported_parameter",
      { errors: [issue("/steps")] },
      "The model does not support these fields: steps. See details.errors.",
    ],
    ["insufficient_scope", { required: ["runs:read", "keys:*"] }, "The credential lacks the scope runs:read, keys:*."],
    ["payload_too_large", { max_bytes: 100 }, "The request body is too large. The limit is 100 bytes."],
    ["source_too_large", { max_bytes: 100 }, "The source image is too large. The limit is 100 bytes."],
    [
      "unsupported_media_type",
      { accepted: ["json", "form"] },
      "This Content-Type is not supported here. Send application/json or multipart/form-data.",
    ],
    ["rate_limited", { retry_after: 12 }, "Rate limit exceeded. Retry after 12 s."],
    ["service_overloaded", { retry_after: 2 }, "The service is overloaded. Retry after 2 s."],
    [
      "model_unavailable",
      { model: "flux-dev" },
      "No provider offers flux-dev right now. Retry later or choose another model.",
    ],
  ] as const)("%s %j", (code, details, message) => {
    expect(new Fault(code, details).message).toBe(message);
    expect(new Fault(code).message).toBe(faults[code].message);
  });

  it("does not repeat a field name that is not safe to show", () => {
    const message = new Fault("validation_error", { errors: [issue("/a\u001b[2J"), issue("/b")] }).message;
    expect(message).toBe(faults.validation_error.message);
  });

  it("has no field name for an error of the whole request", () => {
    expect(new Fault("validation_error", { errors: [issue("")] }).message).toBe(faults.validation_error.message);
  });
});

describe("anything else that is thrown", () => {
  it.each([new Error("password=secret"), "a string", undefined, { code: "run_not_found" }])(
    "becomes internal_error without details: %s",
    (thrown) => {
      const fault = toFault(thrown);
      expect(fault.code).toBe("internal_error");
      expect(fault.cause).toBe(thrown);
      expect(fault.body()).toEqual({
        message: faults.internal_error.message,
        code: "internal_error",
        details: { retryable: true },
      });
    },
  );

  it("is returned as it is if it is a Fault", () => {
    const fault = new Fault("conflict");
    expect(toFault(fault)).toBe(fault);
  });
});
