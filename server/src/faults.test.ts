import { describe, expect, it } from "vitest";
import { Fault, type FaultCode, faults, toFault } from "./faults.ts";

const codes = Object.keys(faults) as FaultCode[];

describe("the catalogue", () => {
  it.each(codes)("%s has a status for failures and a sentence of its own", (code) => {
    const row = faults[code];
    expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    expect(row.status).toBeGreaterThanOrEqual(400);
    expect(row.status).toBeLessThan(600);
    expect(row.message).toMatch(/^[A-Z].*\.$/);
  });

  it("never says the same of two faults, so that people can tell them apart too", () => {
    const sentences = codes.map((code) => faults[code].message);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  it("does not ask callers to try again what they must change first", () => {
    const hopeless = codes.filter((code) => [400, 401, 404, 405, 410, 413, 415].includes(faults[code].status));
    expect(hopeless.filter((code) => new Fault(code).retryable)).toEqual([]);
  });
});

describe("a fault", () => {
  it("shows its sentence, its code and its details, and says whether a retry may help", () => {
    const fault = new Fault("run_not_ready", { run_id: "r1" });
    expect(fault.status).toBe(409);
    expect(fault.body()).toEqual({
      message: faults.run_not_ready.message,
      code: "run_not_ready",
      details: { retryable: true, run_id: "r1" },
    });
  });

  it("keeps its cause for the log and out of the body", () => {
    const fault = new Fault("provider_error", {}, { cause: new Error("key sk-123 was refused by 10.0.0.7") });
    expect(fault.cause).toBeInstanceOf(Error);
    expect(JSON.stringify(fault.body())).not.toMatch(/sk-123|10\.0\.0\.7/);
    expect(fault.message).toBe(faults.provider_error.message);
  });
});

describe("anything else that is thrown", () => {
  it.each([new Error("password=secret"), "a string", undefined, { code: "run_not_found" }])(
    "leaves as internal_error and nothing more: %s",
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

  it("is a fault already and stays the same one", () => {
    const fault = new Fault("conflict");
    expect(toFault(fault)).toBe(fault);
  });
});
