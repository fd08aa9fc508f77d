import { describe, expect, it } from "vitest";
import { renderReport } from "./render-report.ts";
import type { DoctorReport, ProviderCheck } from "./report.ts";

const plain = (_: string, text: string) => text;
const provider = (name: string, more: Partial<ProviderCheck>): ProviderCheck => ({
  ...{ name, status: "pass", key: "works", message: "hello", known: 0, unasked: 0, missing: [], prices: [] },
  notAsked: [],
  ...more,
});

const REPORT: DoctorReport = {
  ok: false,
  checks: [
    { name: "settings", status: "pass", message: "complete" },
    { name: "catalogue", status: "fail", message: "gesso.yaml:2:3 unknown provider fall; did you mean fal?" },
    { name: "postgresql", status: "fail", message: `failed: ${"x ".repeat(40)}`.trim(), fix: "start it" },
  ],
  providers: [
    provider("fal", { known: 21, unasked: 3, message: "12.40 left" }),
    provider("replicate", {
      ...{ status: "fail", known: 8, fix: "set another upstream model (as) in gesso.yaml, or disable these offers" },
      message: "The token is that of a person with quite a long name.",
      missing: [{ as: "black-forest-labs/flux-dev", models: ["flux-dev"] }],
    }),
    provider("openai", { status: "fail", key: "refused", message: "HTTP 401", fix: "check OPENAI_API_KEY" }),
    provider("bfl", { status: "skip", key: "off", message: "set BFL_API_KEY" }),
  ],
  unoffered: [
    { task: "image.generate", model: "vendorc", by: [] },
    { task: "image.generate", model: "vendora", by: ["openai"] },
    { task: "image.edit", model: "vendora", by: ["openai", "fal"] },
  ],
};

describe("the rendered report", () => {
  it("shows checks, providers and models in aligned columns", () => {
    expect(renderReport(REPORT, plain).split("\n")).toEqual([
      "",
      "  ✓ settings    complete",
      "  ✗ catalogue   gesso.yaml:2:3 unknown provider fall; did you mean fal?",
      `  ✗ postgresql  failed: ${"x ".repeat(27)}x`,
      `                ${"x ".repeat(11)}x`,
      "                → start it",
      "",
      "    provider   key           known  missing  unasked",
      "  ✓ fal        works            21        ·        3  12.40 left",
      "  ✗ replicate  works             8        1        ·",
      "               The token is that of a person with quite a long name.",
      "               ✗ upstream model black-forest-labs/flux-dev not found (used by",
      "               flux-dev)",
      "               → set another upstream model (as) in gesso.yaml, or disable",
      "               these offers",
      "  ✗ openai     refused     HTTP 401",
      "               → check OPENAI_API_KEY",
      "  – bfl        off         set BFL_API_KEY",
      "",
      "    models without an enabled provider  enable",
      "  – vendorc                             add an entry in gesso.yaml",
      "  – vendora                             openai, fal",
      "",
      "  4 checks failed.",
      "",
    ]);
  });

  it("is at most 80 columns wide, except for words that cannot be broken", () => {
    const lines = renderReport(REPORT, plain).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it("has the same text with and without colors", () => {
    const colored = renderReport(REPORT, (status, text) => `<${status}>${text}</>`);
    expect(colored).toContain("<fail>✗</> openai");
    expect(colored.replace(/<[a-z/]*>/g, "")).toBe(renderReport(REPORT, plain));
  });

  it("shows prices that the provider has changed below its models", () => {
    const prices = [{ as: "fal-ai/flux/dev", unit: "megapixel" as const, here: 0.025, there: 0.03 }];
    const report: DoctorReport = {
      ...{ ok: true, checks: [], unoffered: [] },
      providers: [provider("fal", { status: "warn", known: 1, prices, fix: "set the prices" })],
    };
    expect(renderReport(report, plain).split("\n").slice(3, 6)).toEqual([
      "  ! fal       works             1        ·        ·  hello",
      "              ! fal-ai/flux/dev costs $0.03 per megapixel today; Gesso",
      "              expects $0.025",
    ]);
  });

  it("is short if all checks pass", () => {
    const well: DoctorReport = { ok: true, checks: [], providers: [provider("fal", { known: 1 })], unoffered: [] };
    expect(renderReport(well, plain)).toContain("All enabled parts work.");
    expect(renderReport(well, plain)).not.toContain("without an enabled provider");
  });
});
