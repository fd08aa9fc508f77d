// Validates files with the C2PA project's own Python package, which is another build of the library than the one that
// Gesso signs with. Returns the signer, the state and the lineage of each file as that package sees them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runPython } from "./python.ts";

const EXTENSIONS: Record<string, string> = {
  ...{ "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "video/mp4": "mp4" },
};

/** `lineage`: pairs of a run and a run that it was derived from, over all manifests of the file. */
export type ValidatedFile = {
  state: string;
  failures: string[];
  signer: string;
  signers: string[];
  actions: string[];
  source_type: string;
  lineage: [from: string, to: string][];
};

const PROGRAM = `
import json, os, c2pa
settings = c2pa.Settings.from_dict({
    "verify": {"verify_trust": True, "remote_manifest_fetch": False, "ocsp_fetch": False},
    "trust": {"trust_anchors": os.environ["ANCHORS"]},
})
context = c2pa.Context(settings=settings)

def assertion(manifest, prefix):
    return next((each["data"] for each in manifest["assertions"] if each["label"].startswith(prefix)), {})

def describe(path):
    with c2pa.Reader(path, context=context) as reader:
        report = json.loads(reader.json())
    manifests = report["manifests"]
    active = manifests[report["active_manifest"]]
    lineage = set()
    for manifest in manifests.values():
        run = assertion(manifest, "org.gesso.run")
        titles = [each.get("title") for each in manifest.get("ingredients", [])]
        for source in run.get("sources", []):
            # What the assertion names is an ingredient of the manifest, too.
            assert "asset " + source["asset_id"] in titles, titles
            if source["run_id"] != run["run_id"]:
                lineage.add((run["run_id"], source["run_id"]))
    actions = assertion(active, "c2pa.actions")["actions"]
    return {
        "state": report["validation_state"],
        "failures": [each["code"] for each in report["validation_results"]["activeManifest"]["failure"]],
        "signer": active["signature_info"]["common_name"],
        "signers": sorted({each["signature_info"]["common_name"] for each in manifests.values()}),
        "actions": [each["action"] for each in actions],
        "source_type": next((each["digitalSourceType"] for each in actions if "digitalSourceType" in each), ""),
        "lineage": sorted(lineage),
    }

print(json.dumps([describe(path) for path in json.loads(os.environ["FILES"])]))
`;

/** `anchors`: roots in PEM format that signers are trusted by. */
export async function validateWithPython(
  files: { bytes: Uint8Array; media_type: string }[],
  anchors: string,
): Promise<ValidatedFile[]> {
  const folder = mkdtempSync(join(tmpdir(), "gesso-c2pa-"));
  try {
    const paths = files.map(({ bytes, media_type }, index) => {
      const path = join(folder, `${index}.${EXTENSIONS[media_type]}`);
      writeFileSync(path, bytes);
      return path;
    });
    return (await runPython(PROGRAM, { env: { FILES: JSON.stringify(paths), ANCHORS: anchors } })) as ValidatedFile[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
