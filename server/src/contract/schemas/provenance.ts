// Schemas of what a file says about its origin: the verdict on it, its manifests, and the run that it belongs to.
import { z } from "zod";
import { RunOutput } from "./run.ts";

/** What verification found. Every way to tamper with a file has a result of its own. */
const ProvenanceResult = z.enum([
  "intact",
  "content_changed",
  "manifest_changed",
  "manifest_swapped",
  "file_cut",
  "untrusted_signer",
  "certificate_expired",
  "no_manifest",
  "unreadable",
]);
export type ProvenanceResult = z.infer<typeof ProvenanceResult>;

const Signer = z
  .object({
    name: z.string().nullable().describe("Common name of the certificate"),
    organization: z.string().nullable().describe("Organization of the certificate"),
    serial_number: z.string().nullable().describe("Serial number of the certificate"),
    algorithm: z.string().nullable().describe("Signature algorithm, such as Es256"),
    time_stamp: z.string().nullable().describe("Time of a trusted time stamp. null without one"),
  })
  .meta({ id: "ManifestSigner" });
export type ManifestSigner = z.infer<typeof Signer>;

const ManifestAction = z
  .object({
    action: z.string().describe("Action of the C2PA vocabulary, such as c2pa.created"),
    when: z.string().nullable(),
    software_agent: z.string().nullable().describe("What did it: for files of Gesso the provider and the model"),
    digital_source_type: z.string().nullable().describe("What made the file, as a URL of the IPTC vocabulary"),
    description: z.string().nullable().describe("For files of Gesso the task, such as image.edit"),
  })
  .meta({ id: "ManifestAction" });
export type ManifestAction = z.infer<typeof ManifestAction>;

const ManifestIngredient = z
  .object({
    title: z.string().nullable(),
    relationship: z.string().nullable().describe("parentOf, componentOf or inputTo"),
    media_type: z.string().nullable(),
    manifest_id: z.string().nullable().describe("Its own manifest, in `manifests`. null if the ingredient has none"),
    run_id: z.string().nullable().describe("Run that the ingredient belongs to, as the manifest says"),
    asset_id: z.string().nullable().describe("File of that run, as the manifest says"),
    result: ProvenanceResult.nullable().describe("Verdict on its own manifest. null if it has none"),
  })
  .meta({ id: "ManifestIngredient" });
export type ManifestIngredient = z.infer<typeof ManifestIngredient>;

const FileManifest = z
  .object({
    manifest_id: z.string().describe("ID of the manifest in the file"),
    title: z.string().nullable(),
    generator: z.string().nullable().describe("Program that wrote the manifest"),
    signer: Signer.nullable(),
    run_id: z.string().nullable().describe("Run that made the file, as the manifest says. null for other programs"),
    asset_id: z.string().nullable(),
    task: z.string().nullable(),
    model: z.string().nullable(),
    provider: z.string().nullable(),
    prompt: z.string().nullable().describe("Prompt, if the tenant publishes prompts"),
    actions: z.array(ManifestAction),
    ingredients: z.array(ManifestIngredient).describe("Files that went into this one"),
  })
  .meta({ id: "FileManifest" });
export type FileManifest = z.infer<typeof FileManifest>;

const ReadMark = z.object({
  digital_source_type: z.string().describe("What made the file, as a URL of the IPTC vocabulary"),
  creator_tool: z.string().nullable(),
  run_id: z.string().nullable(),
  asset_id: z.string().nullable(),
});

const FoundRun = z
  .object({
    run_id: z.uuid(),
    asset_id: z.uuid(),
    root_run_id: z.uuid().describe("First run of its tree"),
    proof: z
      .enum(["bytes", "manifest", "mark"])
      .describe(
        "How it was found. bytes: the file is the stored one. manifest: it has the manifest that Gesso stored. mark: " +
          "only its metadata names the run, which any program can write",
      ),
  })
  .meta({ id: "FoundRun" });
export type FoundRun = z.infer<typeof FoundRun>;

const ImageMatch = z
  .object({
    run_id: z.uuid(),
    asset_id: z.uuid(),
    distance: z.int().describe("Bits that differ. 0: the same image, apart from its size and compression"),
    bits: z.int().describe("Bits of a fingerprint"),
  })
  .meta({ id: "ImageMatch" });
export type ImageMatch = z.infer<typeof ImageMatch>;

export const ProvenanceReport = z
  .object({
    result: ProvenanceResult.describe(
      "intact: signed by a trusted signer and unchanged since. content_changed: the content is not the signed one. " +
        "manifest_changed: the manifest itself was changed, or cannot be read. manifest_swapped: the manifest belongs " +
        "to another file. file_cut: the file ends too early. untrusted_signer: unchanged, but no trusted certificate " +
        "signed it. certificate_expired: unchanged, but the certificate has expired. no_manifest: nothing was signed. " +
        "unreadable: the file is damaged",
    ),
    message: z.string().describe("The result as a sentence"),
    media_type: z.string(),
    signer: Signer.nullable().describe("Who signed the file, as its certificate says. null without a manifest"),
    manifest_hash: z.string().nullable().describe("SHA-256 of the C2PA manifest store"),
    digital_source_type: z.string().nullable().describe("What made the file, by its manifest or its mark"),
    mark: ReadMark.nullable().describe("The metadata that simple tools read. null without a digital source type"),
    codes: z.array(z.string()).describe("Codes of failed checks, as C2PA names them"),
    manifests: z
      .array(FileManifest)
      .describe("The manifest of the file, then those of its ingredients, as far as they have one"),
    run: FoundRun.nullable().describe("The run of your tenant that made the file. null if there is none"),
    match: ImageMatch.nullable().describe(
      "The output of your tenant that looks most like the file, if neither bytes nor manifest named a run. A similar " +
        "image can be taken for a copy. null if none is similar",
    ),
  })
  .meta({ id: "ProvenanceReport" });
export type ProvenanceReport = z.infer<typeof ProvenanceReport>;

export const RunProvenance = z
  .object({
    run_id: z.uuid(),
    outputs: z.array(
      z.object({
        asset_id: z.uuid(),
        media_type: z.string(),
        provenance: RunOutput.shape.provenance,
        report: ProvenanceReport.nullable().describe(
          "Verdict on the stored file. null if it was deleted, or if it has more than 100 MB",
        ),
      }),
    ),
  })
  .meta({ id: "RunProvenance" });
export type RunProvenance = z.infer<typeof RunProvenance>;
