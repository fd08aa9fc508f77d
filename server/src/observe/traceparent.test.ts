import { expect, it } from "vitest";
import { deriveContext, formatTraceparent, parseTraceparent } from "./traceparent.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

it("reads the example of the standard, and a later version with more fields", () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled).toBe(false);
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-03-more`)?.isSampled).toBe(true);
});

it("ignores what is no context", () => {
  const zeros = (digits: number) => "0".repeat(digits);
  const wrong = [
    undefined,
    "",
    "x",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${zeros(32)}-${SPAN}-01`,
    `00-${TRACE}-${zeros(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01\n`,
  ];
  for (const text of wrong) expect(parseTraceparent(text)).toBeUndefined();
});

it("derives the same id in every process, and another one for another epoch", () => {
  const parent = parseTraceparent(`00-${TRACE}-${SPAN}-01`)!;
  const first = deriveContext(parent, "run#0");
  expect(deriveContext({ ...parent }, "run#0")).toEqual(first);
  expect(deriveContext(parent, "run#1").spanId).not.toBe(first.spanId);
  expect(parseTraceparent(formatTraceparent(first))).toEqual(first);
});
