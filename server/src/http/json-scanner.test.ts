import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createJsonScanner } from "./json-scanner.ts";

const BOUNDS = { maxBytes: 40_000_000, maxPlainBytes: 1_000_000, maxValues: 20_000 };
const scanAll = (text: string, chunkBytes = 65_536, bounds = BOUNDS) => {
  const scan = createJsonScanner(bounds);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) scan(bytes.subarray(at, at + chunkBytes));
};
const code = (run: () => void) => {
  try {
    run();
    return "accepted";
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
};

describe("createJsonScanner", () => {
  it("accepts a large image beside small fields", () => {
    scanAll(JSON.stringify({ prompt: 'a "boat" \\', image: "A".repeat(30_000_000) }));
  });

  it("stops at the first chunk that makes the plain part too large", () => {
    const scan = createJsonScanner(BOUNDS);
    const chunk = Buffer.from("{},".repeat(5000));
    let chunks = 0;
    expect(
      code(() => {
        for (; chunks < 10_000; chunks++) scan(chunk);
      }),
    ).toBe("invalid_json");
    expect(chunks).toBeLessThan(3);
  });

  it("counts many short strings as plain bytes", () => {
    const bounds = { ...BOUNDS, maxValues: 1e9 };
    expect(code(() => scanAll(JSON.stringify(Array(300).fill("x".repeat(4000))), 65_536, bounds))).toBe(
      "payload_too_large",
    );
    expect(code(() => scanAll(JSON.stringify(Array(200).fill("x".repeat(4000))), 65_536, bounds))).toBe("accepted");
  });

  it("accepts or refuses a body however it is cut into chunks", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        (value, cut, maxValues) => {
          const bounds = { maxBytes: 1e6, maxPlainBytes: 60, maxValues };
          const text = JSON.stringify(value);
          const isAccepted = (chunkBytes: number) => code(() => scanAll(text, chunkBytes, bounds)) === "accepted";
          expect(isAccepted(cut)).toBe(isAccepted(1));
        },
      ),
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
        const count = countValues(value);
        const bounds = { maxBytes: 1e6, maxPlainBytes: 1e6, maxValues: count - 1 };
        expect(code(() => scanAll(JSON.stringify(value), 7, bounds))).toBe("invalid_json");
      }),
      { numRuns: 2000 },
    );
  });

  it("reads 35 MB of image with less than 200 ms of CPU", () => {
    const text = JSON.stringify({ image: "A".repeat(35_000_000) });
    const before = process.cpuUsage();
    scanAll(text);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(200);
  });
});
