import { describe, expect, it } from "vitest";
import { Fault } from "../faults.ts";
import { toRunFault } from "./run-fault.ts";

describe("what a run ends with", () => {
  it("is left alone where a run may end so", () => {
    const fault = new Fault("provider_timeout", { seconds: 3 });
    expect(toRunFault(fault)).toBe(fault);
  });

  it.each([
    ["image_undecodable", "source_fetch_failed"],
    ["url_not_allowed", "source_fetch_failed"],
    ["mask_mismatch", "provider_rejected_input"],
  ] as const)("tells %s as the reason of %s", (code, end) => {
    const { details, ...fault } = toRunFault(new Fault(code, { kind: "x" })).body();
    expect(fault.code).toBe(end);
    expect(details).toEqual({ kind: "x", reason: code, retryable: false });
  });

  it("says nothing of what is our own affair", () => {
    expect(toRunFault(new Fault("internal_error", { secret: 1 })).body()).toMatchObject({
      code: "provider_error",
      details: { retryable: true },
    });
  });
});
