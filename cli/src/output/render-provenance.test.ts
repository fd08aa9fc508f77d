import type { FileManifest, ProvenanceReport } from "@gesso/client";
import { expect, test } from "vitest";
import { renderProvenanceReport, renderRunProvenance } from "./render-provenance.ts";

const signerOf = (name: string) => ({
  ...{ name, organization: name, serial_number: "1", algorithm: "Es256", time_stamp: null },
});
const ingredient = (manifest_id: string | null, result: "intact" | "untrusted_signer" | null) => ({
  ...{ title: manifest_id ? `asset ${manifest_id}` : "scan.png", relationship: "parentOf", media_type: "image/png" },
  ...{ manifest_id, run_id: null, asset_id: null, result },
});
const manifest = (id: string, signer: string, ingredients: FileManifest["ingredients"]): FileManifest => ({
  ...{
    manifest_id: id,
    title: `asset ${id}`,
    generator: "Gesso",
    signer: signerOf(signer),
    run_id: null,
    asset_id: null,
  },
  ...{ task: null, model: null, provider: null, prompt: null, ingredients },
  actions: [
    ...[{ action: "c2pa.edited", when: null, software_agent: "bfl flux", digital_source_type: "x", description: null }],
  ],
});
const report = (manifests: FileManifest[]): ProvenanceReport => ({
  ...{ result: "intact", message: "The file is unchanged.", media_type: "image/png", signer: signerOf("Acme") },
  ...{ manifest_hash: "ab12", digital_source_type: "http://example.test/composite", mark: null, codes: [] },
  run: { run_id: "r1", asset_id: "a", root_run_id: "r0", proof: "bytes" },
  match: { run_id: "r2", asset_id: "b", distance: 4, bits: 128 },
  manifests,
});

test("a report shows the verdict, the signer, the run and the ingredients as a tree", () => {
  const camera = manifest("c", "A\u001b[31m camera", []);
  const lines = renderProvenanceReport(
    report([manifest("a", "Acme", [ingredient("c", "untrusted_signer"), ingredient(null, null)]), camera]),
  );
  expect(lines).toEqual([
    "intact  The file is unchanged.",
    "Signed by   Acme",
    "Made by     composite",
    "Run         r1 (found by bytes)",
    "Looks like  r2 (4 of 128 bits differ)",
    "Manifest    ab12",
    "edited by bfl flux asset a",
    "├─ parentOf: untrusted_signer signed by A\\u001b[31m camera: edited by bfl flux asset c",
    "└─ parentOf: scan.png (no manifest)",
  ]);
});

test("manifests that refer to each other many times are shown once", () => {
  const ids = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const all = ids.map((id) =>
    manifest(
      id,
      "Acme",
      ids.map((other) => ingredient(other, "intact")),
    ),
  );
  expect(renderProvenanceReport(report(all)).length).toBeLessThanOrEqual(6 + 100 * 101);
});

test("a run without outputs and a deleted file have a sentence each", () => {
  expect(renderRunProvenance({ run_id: "r", outputs: [] })).toEqual(["The run has no outputs."]);
  const output = { asset_id: "a", media_type: "image/png", provenance: null, report: null };
  expect(renderRunProvenance({ run_id: "r", outputs: [output] })).toEqual(["asset a", "The file was deleted."]);
});
