import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createJsonScanner } from "./json-scanner.ts";

const BOUNDS = { maxPlainBytes: 1_000_000, maxValues: 20_000 };

/** The code of the first refusal, or "accepted". */
const judge = (text: string, chunkBytes = 65_536, bounds = BOUNDS): string => {
  const scan = createJsonScanner(bounds);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const refusal = scan(bytes.subarray(at, at + chunkBytes));
    if (refusal) return refusal.code;
  }
  return "accepted";
};

describe("createJsonScanner", () => {
  it("accepts a large image beside small fields", () => {
    expect(judge(JSON.stringify({ prompt: 'a "boat" \\', image: "A".repeat(30_000_000) }))).toBe("accepted");
  });

  it("refuses many values within their first chunks", () => {
    const scan = createJsonScanner(BOUNDS);
    const chunk = Buffer.from("{},".repeat(5000));
    const refusals = Array.from({ length: 3 }, () => scan(chunk)?.code);
    expect(refusals[2]).toBe("invalid_json");
  });

  it("counts many short strings as plain bytes", () => {
    const bounds = { ...BOUNDS, maxValues: 1e9 };
    expect(judge(JSON.stringify(Array(300).fill("x".repeat(4000))), 65_536, bounds)).toBe("payload_too_large");
    expect(judge(JSON.stringify(Array(200).fill("x".repeat(4000))), 65_536, bounds)).toBe("accepted");
  });

  it("gives the same result for every division into chunks", () => {
    const cuts = fc.tuple(
      fc.jsonValue({ maxDepth: 4 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 60 }),
    );
    fc.assert(
      fc.property(cuts, ([value, cut, maxValues]) => {
        const isAccepted = (chunkBytes: number) =>
          judge(JSON.stringify(value), chunkBytes, { maxPlainBytes: 60, maxValues }) === "accepted";
        expect(isAccepted(cut)).toBe(isAccepted(1));
      }),
      { numRuns: 2000 },
    );
  });

  it("counts at least as many values as the body has", () => {
    const countValues = (value: unknown): number =>
      value !== null && typeof value === "object"
        ? Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1)
        : 1;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const bounds = { maxPlainBytes: 1e6, maxValues: countValues(value) - 1 };
        expect(judge(JSON.stringify(value), 7, bounds)).toBe("invalid_json");
      }),
      { numRuns: 2000 },
    );
  });

  it("reads 35 MB of image with less than 200 ms of CPU", () => {
    const text = JSON.stringify({ image: "A".repeat(35_000_000) });
    const before = process.cpuUsage();
    judge(text);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(200);
  });
});
