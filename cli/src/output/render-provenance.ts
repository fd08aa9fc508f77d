// `gesso verify` and `gesso runs provenance`: the verdict on a file in one line, who signed it, and the files that went
// into it as a tree.
import type { FileManifest, ManifestSigner, ProvenanceReport, RunProvenance } from "@gesso/client";
import { paint, toHarmlessText } from "./terminal.ts";

const LABEL_WIDTH = 12;
const STYLES: Record<string, "green" | "yellow"> = {
  intact: "green",
  no_manifest: "yellow",
  untrusted_signer: "yellow",
};

export function renderProvenanceReport(report: ProvenanceReport): string[] {
  const { result, message, signer, run, match, digital_source_type, codes, manifests, manifest_hash } = report;
  const byId = new Map(manifests.map((each) => [each.manifest_id, each]));
  const lines: [label: string, value: string | null][] = [
    ["Signed by", signer && describeSigner(signer)],
    ["Made by", digital_source_type && (digital_source_type.split("/").at(-1) ?? null)],
    ["Run", run && `${run.run_id} (found by ${run.proof})`],
    ["Looks like", match && `${match.run_id} (${match.distance} of ${match.bits} bits differ)`],
    ["Manifest", manifest_hash],
    ["Checks", codes.length > 0 ? codes.join(", ") : null],
  ];
  return [
    `${paint(STYLES[result] ?? "red", result, process.stdout)}  ${message}`,
    ...lines.flatMap(([label, value]) =>
      value ? [`${paint("dim", label.padEnd(LABEL_WIDTH), process.stdout)}${toHarmlessText(value)}`] : [],
    ),
    ...(manifests[0] ? renderManifest(manifests[0], byId, { head: "", indent: "" }) : []),
  ];
}

export const renderRunProvenance = ({ outputs }: RunProvenance): string[] =>
  outputs.length === 0
    ? ["The run has no outputs."]
    : outputs.flatMap(({ asset_id, report }) => [
        paint("bold", `asset ${asset_id}`, process.stdout),
        ...(report ? renderProvenanceReport(report) : ["The file was deleted."]),
      ]);

function describeSigner({ name, organization, time_stamp }: ManifestSigner): string {
  const owner = organization && organization !== name ? ` (${organization})` : "";
  return `${name ?? "unknown"}${owner}${time_stamp ? `, time stamp ${time_stamp}` : ""}`;
}

type Branch = { head: string; indent: string };

/** Each manifest is shown in full once: a file can refer to the same one from many others, or from itself. */
function renderManifest(manifest: FileManifest, all: Map<string, FileManifest>, { head, indent }: Branch): string[] {
  all.delete(manifest.manifest_id);
  const { actions, title, ingredients } = manifest;
  const made = actions.findLast((each) => each.digital_source_type) ?? actions.at(-1);
  const words = [made?.action.replace(/^c2pa\./, ""), made?.software_agent && `by ${made.software_agent}`, title];
  const below = ingredients.flatMap(({ title: name, relationship, manifest_id, result }, index) => {
    const isLast = index === ingredients.length - 1;
    const stem = `${indent}${isLast ? "└─ " : "├─ "}${relationship ?? "ingredient"}: `;
    if (manifest_id === null) return [toHarmlessText(`${stem}${name ?? "a file"} (no manifest)`)];
    const own = all.get(manifest_id);
    if (!own) return [toHarmlessText(`${stem}${result ?? ""}: ${name ?? "a file"} (see above)`)];
    const signer = own.signer ? ` signed by ${describeSigner(own.signer)}` : "";
    const next = { head: `${stem}${result ?? ""}${signer}: `, indent: `${indent}${isLast ? "   " : "│  "}` };
    return renderManifest(own, all, next);
  });
  return [toHarmlessText(`${head}${words.filter(Boolean).join(" ")}`), ...below];
}
