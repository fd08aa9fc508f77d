import { describe, expect, it } from "vitest";
import type { z } from "zod";
import {
  aspectRatio,
  imageUrl,
  promptField,
  runFields,
  runId,
  seed,
  sideLength,
  textField,
  timestampField,
} from "./fields.ts";

const takes = (field: z.ZodType, value: unknown) => field.safeParse(value).success;

/** One code point, two UTF-16 units, four bytes. */
const WIDE = "\u{1F30A}";

describe("a prompt", () => {
  it.each([1, 8000])("of %i code points is valid, however many UTF-16 units they need", (length) => {
    expect(takes(promptField(), WIDE.repeat(length))).toBe(true);
    expect(takes(promptField(), "a".repeat(length))).toBe(true);
  });

  it("of 8,001 code points is too long", () => {
    expect(takes(promptField(), "a".repeat(8001))).toBe(false);
    expect(takes(promptField(), WIDE.repeat(8001))).toBe(false);
  });

  it("of 30 million characters is refused without counting them", () => {
    const long = "a".repeat(30_000_000);
    const before = process.cpuUsage();
    expect(promptField().safeParse(long).error?.issues).toMatchObject([{ params: { code: "too_long" } }]);
    expect(promptField().safeParse(`\u200b${long}`).success).toBe(false);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(250);
  });

  it.each(["", " ", "\n\t", "\u00a0\u2003", "\u200b\u200d", "\u0000"])("needs a visible character: %j", (text) =>
    expect(takes(promptField(), text)).toBe(false),
  );

  it.each(["a", " a ", "海", WIDE, "!"])("can be anything visible: %j", (text) =>
    expect(takes(promptField(), text)).toBe(true),
  );
});

describe("optional text", () => {
  it("can be empty, and has its own bound", () => {
    expect(takes(textField("Notes", 3), "")).toBe(true);
    expect(takes(textField("Notes", 3), WIDE.repeat(3))).toBe(true);
    expect(takes(textField("Notes", 3), WIDE.repeat(4))).toBe(false);
  });
});

describe("numbers", () => {
  it.each(["2026-01-31T12:00:00Z", "0001-01-01T00:00:00+02:00"])("timestamp %s is valid", (value) =>
    expect(takes(timestampField("When"), value)).toBe(true),
  );
  it.each(["0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "yesterday"])("timestamp %s is invalid", (value) =>
    expect(takes(timestampField("When"), value)).toBe(false),
  );
  it.each([0, 7, 4294967295, undefined])("seed %s is valid", (value) => expect(takes(seed(), value)).toBe(true));
  it.each([-1, 4294967296, 0.5, "7"])("seed %s is invalid", (value) => expect(takes(seed(), value)).toBe(false));
  it.each([64, 2048])("side %i is valid", (value) => expect(takes(sideLength("Width"), value)).toBe(true));
  it.each([63, 2049, 100.5])("side %s is invalid", (value) => expect(takes(sideLength("Width"), value)).toBe(false));
});

describe("references", () => {
  it.each(["https://example.com/a.png", "HTTP://example.com/a.png"])("%s is an image URL", (value) =>
    expect(takes(imageUrl("Image"), value)).toBe(true),
  );
  it.each(["ftp://example.com/a", "data:image/png;base64,AAAA", "example.com", "https://a b", "file:///etc/passwd"])(
    "%s is not",
    (value) => expect(takes(imageUrl("Image"), value)).toBe(false),
  );
  it("have a maximum length", () =>
    expect(takes(imageUrl("Image"), `https://example.com/${"a".repeat(2048)}`)).toBe(false));
  it("to runs are IDs", () => {
    expect(takes(runId("Run"), "01990c3e-2f00-7000-8000-6f0c1a2b3c4d")).toBe(true);
    expect(takes(runId("Run"), "01990c3e")).toBe(false);
  });
});

describe("an aspect ratio", () => {
  it.each(["1:1", "16:9", "21:9"])("%s is valid", (value) => expect(takes(aspectRatio(), value)).toBe(true));
  it.each(["16x9", "16:", "160:9", "16:9 "])("%s is invalid", (value) =>
    expect(takes(aspectRatio(), value)).toBe(false),
  );
});

describe("metadata", () => {
  const { metadata } = runFields;
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
  const deep = (levels: number): object => (levels === 1 ? {} : { down: deep(levels - 1) });
  /** `{"a":"…"}` is eight bytes around the text. */
  const sized = (bytes: number) => ({ a: "x".repeat(bytes - 8) });

  it("has at most 64 keys", () => {
    expect(takes(metadata, keys(64))).toBe(true);
    expect(takes(metadata, keys(65))).toBe(false);
  });

  it("has at most 16 KiB as compact JSON, counted in bytes", () => {
    expect(takes(metadata, sized(16_384))).toBe(true);
    expect(takes(metadata, sized(16_385))).toBe(false);
    expect(takes(metadata, { a: WIDE.repeat(4095) })).toBe(false);
  });

  it("has at most eight levels", () => {
    expect(takes(metadata, deep(8))).toBe(true);
    expect(takes(metadata, deep(9))).toBe(false);
  });

  it("is an object with any JSON values", () => {
    expect(takes(metadata, { a: [1, null, { b: true }] })).toBe(true);
    expect(takes(metadata, [])).toBe(false);
    expect(takes(metadata, "a")).toBe(false);
  });
});

describe("webhook_secret", () => {
  it("has a minimum and a maximum length", () => {
    expect(takes(runFields.webhook_secret, "x".repeat(16))).toBe(true);
    expect(takes(runFields.webhook_secret, "x".repeat(15))).toBe(false);
    expect(takes(runFields.webhook_secret, "x".repeat(256))).toBe(false);
  });

  it("is a key of 24 to 64 bytes in base64 if it begins with whsec_", () => {
    const key = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
    for (const bytes of [24, 25, 26, 32, 64]) expect(takes(runFields.webhook_secret, key(bytes))).toBe(true);
    for (const bytes of [12, 23, 65, 100]) expect(takes(runFields.webhook_secret, key(bytes))).toBe(false);
    for (const bad of ["whsec_not in base64 at all!!!!!!!!!!!!!", `${key(24)}=`, `${key(25).slice(0, -1)}`]) {
      expect(takes(runFields.webhook_secret, bad)).toBe(false);
    }
  });
});
