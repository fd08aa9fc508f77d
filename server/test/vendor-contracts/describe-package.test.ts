import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findPackage } from "./contracts.ts";
import { comparePackages, describePackage } from "./describe-package.ts";

const root = mkdtempSync(join(tmpdir(), "gesso-package-versions-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A version of Runway's package with one endpoint. */
function writeVersion(name: string, types: string): string {
  const file = join(root, name, "resources/image-to-video.d.ts");
  mkdirSync(dirname(file), { recursive: true });
  const empty = ["text-to-image", "tasks", "uploads", "organization"];
  for (const each of empty) writeFileSync(join(dirname(file), `${each}.d.ts`), "export {};");
  writeFileSync(file, types);
  return join(root, name);
}

const variant = (name: string, model: string, fields: string) => `interface ${name} { model: '${model}'; ${fields} }`;
const endpoint = (...variants: [name: string, model: string, fields: string][]) => `
  export type ImageToVideoCreateParams = ${variants.map(([name]) => `ImageToVideoCreateParams.${name}`).join(" | ")};
  export declare namespace ImageToVideoCreateParams { ${variants.map((each) => variant(...each)).join("\n")} }`;

it("a new model, a removed model and new, removed and changed fields are differences", () => {
  const before = writeVersion(
    "1.0.0",
    endpoint(
      ["Old", "old", "ratio: string"],
      ["Kept", "kept", "ratio: '16:9' | '9:16'; seed?: number; fps?: number; duration?: 5"],
    ),
  );
  const after = writeVersion(
    "2.0.0",
    endpoint(
      ["Kept", "kept", "ratio: '16:9' | '1:1'; seed: number; audio?: boolean; duration?: 5"],
      ["Next", "next", "ratio: string"],
    ),
  );
  const found = comparePackages(describePackage("runway", before), describePackage("runway", after));
  const place = "POST image_to_video kept request ";
  expect(found).toEqual([
    { change: "new model", name: "next", before: "", after: "" },
    { change: "removed model", name: "old", before: "", after: "" },
    { change: "changed field", name: `${place}/ratio`, before: "16:9 | 9:16, required", after: "16:9 | 1:1, required" },
    { change: "changed field", name: `${place}/seed`, before: "number", after: "number, required" },
    { change: "new field", name: `${place}/audio`, before: "", after: "boolean" },
    { change: "removed field", name: `${place}/fps`, before: "number", after: "" },
  ]);
});

it.each([
  ["fal", "@fal-ai/client", 1207],
  ["openai", "openai", 15],
  ["runway", "@runwayml/sdk", 28],
])("the package of %s names its models, and does not differ from itself", (id, name, count) => {
  const described = describePackage(id, findPackage(name));
  expect(described.models.size).toBeGreaterThanOrEqual(count);
  expect(comparePackages(described, describePackage(id, findPackage(name)))).toEqual([]);
});
