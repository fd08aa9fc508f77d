import { describe, expect, it } from "vitest";
import { renderReport } from "./render-report.ts";
import type { DoctorReport, ProviderCheck } from "./report.ts";

const plain = (_: string, text: string) => text;
const provider = (name: string, more: Partial<ProviderCheck>): ProviderCheck => ({
  ...{ name, status: "pass", key: "works", message: "hello", known: 0, unasked: 0, missing: [] },
  ...more,
});

const REPORT: DoctorReport = {
  ok: false,
  checks: [
    { name: "settings", status: "pass", message: "complete" },
    { name: "catalogue", status: "fail", message: "gesso.yaml:2:3 unknown provider fall; did you mean fal?" },
    { name: "postgresql", status: "fail", message: `does not work: ${"x ".repeat(40)}`.trim(), fix: "start it" },
  ],
  providers: [
    provider("fal", { known: 21, unasked: 3, message: "12.40 left" }),
    provider("replicate", {
      ...{ status: "fail", known: 8, fix: "bind other names in gesso.yaml, or switch these offers off" },
      message: "The token is that of a person with quite a long name.",
      missing: [{ as: "black-forest-labs/flux-dev", models: ["flux-dev"] }],
    }),
    provider("openai", { status: "fail", key: "refused", message: "answered 401", fix: "check OPENAI_API_KEY" }),
    provider("bfl", { status: "skip", key: "off", message: "set BFL_API_KEY" }),
  ],
  unoffered: [
    { task: "image.generate", model: "vendorc", by: [] },
    { task: "image.generate", model: "vendora", by: ["openai"] },
    { task: "image.edit", model: "vendora", by: ["openai", "fal"] },
  ],
};

describe("the page", () => {
  it("says everything in aligned columns", () => {
    expect(renderReport(REPORT, plain).split("\n")).toEqual([
      "",
      "  ✓ settings    complete",
      "  ✗ catalogue   gesso.yaml:2:3 unknown provider fall; did you mean fal?",
      `  ✗ postgresql  does not work: ${"x ".repeat(24)}x`,
      `                ${"x ".repeat(14)}x`,
      "                → start it",
      "",
      "    provider   key           known  missing  unasked",
      "  ✓ fal        works            21        ·        3  12.40 left",
      "  ✗ replicate  works             8        1        ·",
      "               The token is that of a person with quite a long name.",
      "               ✗ black-forest-labs/flux-dev is not known there (flux-dev)",
      "               → bind other names in gesso.yaml, or switch these offers off",
      "  ✗ openai     refused     answered 401",
      "               → check OPENAI_API_KEY",
      "  – bfl        off         set BFL_API_KEY",
      "",
      "    offered by nobody here  would come with",
      "  – vendorc                 a line in gesso.yaml",
      "  – vendora                 openai, fal",
      "",
      "  4 things do not work.",
      "",
    ]);
  });

  it("is at most 80 columns wide, except for words that cannot be broken", () => {
    const lines = renderReport(REPORT, plain).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it("says the same with colours as without", () => {
    const painted = renderReport(REPORT, (status, text) => `<${status}>${text}</>`);
    expect(painted).toContain("<fail>✗</> openai");
    expect(painted.replace(/<[a-z/]*>/g, "")).toBe(renderReport(REPORT, plain));
  });

  it("is short where all is well", () => {
    const well: DoctorReport = { ok: true, checks: [], providers: [provider("fal", { known: 1 })], unoffered: [] };
    expect(renderReport(well, plain)).toContain("Everything that is switched on works.");
    expect(renderReport(well, plain)).not.toContain("nobody");
  });
});
