import { describe, expect, it } from "vitest";
import { Fault } from "../../faults/faults.ts";
import { toRunFault } from "./run-fault.ts";

describe("the fault of a run", () => {
  it("is not changed if a run may end with it", () => {
    const fault = new Fault("provider_timeout", { seconds: 3 });
    expect(toRunFault(fault)).toBe(fault);
  });

  it.each([
    ["image_undecodable", "source_fetch_failed"],
    ["url_not_allowed", "source_fetch_failed"],
    ["mask_mismatch", "provider_rejected_input"],
  ] as const)("%s becomes the reason of %s", (code, end) => {
    const { details, ...fault } = toRunFault(new Fault(code, { kind: "x" })).body();
    expect(fault.code).toBe(end);
    expect(details).toEqual({ kind: "x", reason: code, retryable: false });
  });

  it("hides internal details", () => {
    expect(toRunFault(new Fault("internal_error", { secret: 1 })).body()).toMatchObject({
      code: "provider_error",
      details: { retryable: true },
    });
  });
});
