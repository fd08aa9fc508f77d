import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createTextCollector } from "./text-collector.ts";

const collect = (bytes: Uint8Array, chunkBytes: number) => {
  const collector = createTextCollector();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const fault = collector.add(bytes.subarray(at, at + chunkBytes));
    if (fault) throw fault;
  }
  return collector.end();
};

it("returns the text, however it is cut into chunks", () => {
  const text = fc.string({ unit: "binary" }).map((each) => each.toWellFormed());
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), fc.nat(70_000), (each, chunkBytes, padding) => {
      const padded = `${"x".repeat(padding)}${each}`;
      expect(collect(Buffer.from(padded), padding > 100 ? chunkBytes * 10_000 : chunkBytes)).toBe(
        padded.replace(/^\ufeff/, ""),
      );
    }),
    { numRuns: 200 },
  );
});

it.each([
  ["in the middle", Buffer.from([0x7b, 0xff, 0x7d])],
  ["at the end", Buffer.from("é").subarray(0, 1)],
  ["after a block", Buffer.concat([Buffer.alloc(70_000, "x"), Buffer.from([0xc3])])],
  ["within the first block", Buffer.concat([Buffer.from([0xc3, 0x28]), Buffer.alloc(70_000, "x")])],
])("refuses bytes that are not UTF-8 %s", (_, bytes) => {
  expect(() => collect(bytes, 30_000)).toThrow(expect.objectContaining({ code: "invalid_json" }));
});

/** What is really kept: garbage that was not collected yet does not count. */
function measureMemory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

it("needs no more memory for a body that arrives byte by byte", () => {
  const collector = createTextCollector();
  const before = measureMemory();
  for (let n = 0; n < 2_000_000; n++) collector.add(Uint8Array.of(0x78));
  const grown = measureMemory() - before;
  expect(collector.end()).toHaveLength(2_000_000);
  expect(grown).toBeLessThan(50_000_000);
});

it("keeps nothing of a discarded body", () => {
  const collector = createTextCollector();
  collector.add(Buffer.alloc(100_000, "x"));
  collector.discard();
  expect(collector.end()).toBe("");
});
