import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const PROGRAM = `
  import { allowHeapGrowth } from "./heap-growth.ts";
  allowHeapGrowth();
  gc();
`;

// V8 ignores a flag that it does not know, so only its own trace shows that it obeys.
it("V8 lets the heap double after a collection", () => {
  const flags = ["--expose-gc", "--trace-gc-verbose", "--input-type=module"];
  const options = { cwd: import.meta.dirname, encoding: "utf8" } as const;
  const trace = execFileSync(process.execPath, [...flags, "--eval", PROGRAM], options);
  const factors = [...trace.matchAll(/\[HeapController\] factor ([\d.]+)/g)].map(([, factor]) => factor);
  expect(factors.at(-1)).toBe("2.0");
});
