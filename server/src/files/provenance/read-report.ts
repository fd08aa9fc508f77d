// Reads the report of the C2PA library: manifests, actions and ingredients as flat lists. The report repeats what an
// untrusted file contains, so every text and every list has a limit, and anything of another shape is left out.
import { z } from "zod";
import type {
  FileManifest,
  ManifestAction,
  ManifestIngredient,
  ManifestSigner,
} from "../../contract/schemas/provenance.ts";
import { RUN_ASSERTION } from "./build-manifest.ts";
import { judgeCodes } from "./judge-codes.ts";

const MAX_TEXT = 2000;
const MAX_LIST = 200;

const text = z
  .string()
  .transform((value) => value.slice(0, MAX_TEXT))
  .nullish()
  .catch(null);
/** Entries that do not fit the schema are left out. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(z.unknown())
    .catch([])
    .default([])
    .transform((values) => values.slice(0, MAX_LIST).flatMap((value) => item.safeParse(value).data ?? []));

const statuses = listOf(z.object({ code: z.string().max(MAX_TEXT) }));
const results = z
  .object({
    activeManifest: z.object({ failure: statuses }).nullish().catch(null),
    ingredientDeltas: listOf(z.object({ validationDeltas: z.object({ failure: statuses }) })),
  })
  .nullish()
  .catch(null);

const id = z.uuid().nullish().catch(null);
const RunAssertion = z.object({
  ...{ run_id: id, asset_id: id, task: text, model: text, provider: text, prompt: text },
  sources: listOf(z.object({ asset_id: z.uuid(), run_id: z.uuid() })),
});
const Action = z.object({
  action: z.string().max(MAX_TEXT),
  ...{ when: text, digitalSourceType: text, description: text },
  softwareAgent: z
    .union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
    .transform((value) => value.slice(0, MAX_TEXT))
    .nullish()
    .catch(null),
});
const Ingredient = z.object({
  ...{ title: text, relationship: text, format: text, active_manifest: text },
  validation_results: results,
});
const Manifest = z.object({
  title: text,
  claim_generator_info: listOf(z.object({ name: z.string().max(MAX_TEXT), version: text })),
  signature_info: z
    .object({ alg: text, issuer: text, common_name: text, cert_serial_number: text, time: text })
    .nullish()
    .catch(null),
  assertions: listOf(z.object({ label: z.string(), data: z.unknown() })),
  ingredients: listOf(Ingredient),
});
type Manifest = z.output<typeof Manifest>;
const Report = z.object({
  active_manifest: z.string(),
  manifests: z.record(z.string().max(MAX_TEXT), z.unknown()),
  validation_state: text,
  validation_results: results,
});

export type ManifestReport = {
  /** Whether the library found no fault and the signer is trusted. */
  isTrusted: boolean;
  /** Codes of failed checks of the file's own manifest, and of ingredients that were changed since. */
  codes: string[];
  /** The one of the file first. */
  manifests: FileManifest[];
};

/** Undefined if the report has no active manifest. */
export function readReport(json: string): ManifestReport | undefined {
  const report = Report.safeParse(JSON.parse(json)).data;
  if (!report) return undefined;
  const ids = [
    report.active_manifest,
    ...Object.keys(report.manifests).filter((key) => key !== report.active_manifest),
  ];
  const manifests = ids.slice(0, MAX_LIST).flatMap((manifestId) => {
    const manifest = Manifest.safeParse(report.manifests[manifestId]).data;
    return manifest ? [renderManifest(manifestId, manifest)] : [];
  });
  if (manifests[0]?.manifest_id !== report.active_manifest) return undefined;
  return {
    isTrusted: report.validation_state === "Trusted",
    codes: failuresIn(report.validation_results),
    manifests,
  };
}

function failuresIn(validation: z.output<typeof results>): string[] {
  const own = validation?.activeManifest?.failure ?? [];
  const deltas = (validation?.ingredientDeltas ?? []).flatMap(({ validationDeltas }) => validationDeltas.failure);
  return [...new Set([...own, ...deltas].map(({ code }) => code))];
}

function renderManifest(manifest_id: string, manifest: Manifest): FileManifest {
  const run = RunAssertion.safeParse(findAssertion(manifest, RUN_ASSERTION)).data;
  const [generator] = manifest.claim_generator_info;
  const { asset_id, run_id, task, model, provider, prompt } = run ?? {};
  return {
    manifest_id,
    title: manifest.title ?? null,
    generator: generator ? [generator.name, generator.version].filter(Boolean).join(" ") : null,
    signer: renderSigner(manifest),
    ...{ run_id: run_id ?? null, asset_id: asset_id ?? null },
    ...{ task: task ?? null, model: model ?? null, provider: provider ?? null, prompt: prompt ?? null },
    actions: listActions(manifest),
    ingredients: manifest.ingredients.map((ingredient) => renderIngredient(ingredient, run?.sources ?? [])),
  };
}

const findAssertion = ({ assertions }: Manifest, label: string): unknown =>
  assertions.find((each) => each.label === label || each.label.startsWith(`${label}.v`))?.data;

function renderSigner({ signature_info: signature }: Manifest): ManifestSigner | null {
  if (!signature) return null;
  return {
    name: signature.common_name ?? null,
    organization: signature.issuer ?? null,
    serial_number: signature.cert_serial_number ?? null,
    algorithm: signature.alg ?? null,
    time_stamp: signature.time ?? null,
  };
}

function listActions(manifest: Manifest): ManifestAction[] {
  const { data } = z.object({ actions: listOf(Action) }).safeParse(findAssertion(manifest, "c2pa.actions"));
  return (data?.actions ?? []).map(({ action, when, softwareAgent, digitalSourceType, description }) => ({
    action,
    when: when ?? null,
    software_agent: softwareAgent ?? null,
    digital_source_type: digitalSourceType ?? null,
    description: description ?? null,
  }));
}

const TITLE = /^asset ([0-9a-f-]{36})$/;

/** Ingredients of Gesso are titled with their asset. The assertion of the run says which run each belongs to. */
function renderIngredient(
  { title, relationship, format, active_manifest, validation_results }: z.output<typeof Ingredient>,
  sources: z.output<typeof RunAssertion>["sources"],
): ManifestIngredient {
  const assetId = TITLE.exec(title ?? "")?.[1];
  const source = sources.find(({ asset_id }) => asset_id === assetId);
  const failures = failuresIn(validation_results);
  return {
    title: title ?? null,
    relationship: relationship ?? null,
    media_type: format ?? null,
    manifest_id: active_manifest ?? null,
    run_id: source?.run_id ?? null,
    asset_id: source?.asset_id ?? null,
    result: active_manifest ? (judgeCodes(failures) ?? "intact") : null,
  };
}
