// Builds the C2PA manifest of an output as a value: its actions, the run that made it and its ingredients. Pure; the
// manifest process turns it into bytes.
import { VERSION } from "../../runtime/version.ts";
import type { IngredientRelationship, OutputOrigin } from "./digital-source-type.ts";

/** The label of the assertion that names the run. Verification reads it. */
export const RUN_ASSERTION = "org.gesso.run";

/** An ingredient whose bytes are handed in beside the manifest, in the same order. */
export type BuiltIngredient = {
  title: string;
  format: string;
  relationship: IngredientRelationship;
  label: string;
};

export type BuiltManifest = { definition: object; ingredients: BuiltIngredient[] };

/** A source whose file is an ingredient. `run_id`: the run that the file belongs to. */
export type IngredientSource = {
  asset_id: string;
  run_id: string;
  media_type: string;
  relationship: IngredientRelationship;
};

export type ManifestFacts = {
  run_id: string;
  asset_id: string;
  media_type: string;
  task: string | undefined;
  model: string | undefined;
  provider: string;
  /** Only set if the tenant publishes prompts. */
  prompt: string | undefined;
  time: string;
  origin: OutputOrigin;
  sources: IngredientSource[];
  /** Media type of the file as the provider returned it, if that file has a manifest of its own. */
  received: string | undefined;
};

const RECEIVED_LABEL = "received";

export function buildManifest(facts: ManifestFacts): BuiltManifest {
  const { sources, received } = facts;
  const ingredients: BuiltIngredient[] = sources.map(({ asset_id, media_type, relationship }, index) => ({
    title: `asset ${asset_id}`,
    format: media_type,
    // A manifest has one parent. The file of the provider is closer to the output than any source.
    relationship: received && relationship === "parentOf" ? "inputTo" : relationship,
    label: `source_${index}`,
  }));
  if (received)
    ingredients.push({
      title: `file of ${facts.provider}`,
      format: received,
      relationship: "parentOf",
      label: RECEIVED_LABEL,
    });
  return {
    ingredients,
    definition: {
      claim_generator_info: [{ name: "Gesso", version: VERSION }],
      format: facts.media_type,
      title: `asset ${facts.asset_id}`,
      assertions: [
        { label: "c2pa.actions", data: { actions: listActions(facts, ingredients) } },
        { label: RUN_ASSERTION, data: describeRun(facts) },
      ],
    },
  };
}

function listActions({ origin, model, provider, task, time, received }: ManifestFacts, all: BuiltIngredient[]) {
  const labels = (relationship: IngredientRelationship) =>
    all.filter((each) => each.relationship === relationship).map(({ label }) => label);
  const [parents, components, inputs] = [labels("parentOf"), labels("componentOf"), labels("inputTo")];
  const agent = { softwareAgent: { name: `${provider}${model ? ` ${model}` : ""}` } };
  const work = {
    action: parents.length > 0 && !received ? "c2pa.edited" : "c2pa.created",
    when: time,
    ...agent,
    digitalSourceType: origin.digitalSourceType,
    ...(task && { description: task }),
    ...(inputs.length > 0 && { parameters: { ingredientIds: inputs } }),
  };
  if (received) {
    // The provider's own manifest says how the file was created. Gesso received and stored it.
    const kept = { ...work, action: inputs.length > 0 ? "c2pa.edited" : "c2pa.published" };
    return [{ action: "c2pa.opened", when: time, parameters: { ingredientIds: [RECEIVED_LABEL] } }, kept];
  }
  return [
    ...(parents.length > 0 ? [{ action: "c2pa.opened", when: time, parameters: { ingredientIds: parents } }] : []),
    work,
    ...components.map((label) => ({ action: "c2pa.placed", when: time, parameters: { ingredientIds: [label] } })),
  ];
}

const describeRun = ({ run_id, asset_id, task, model, provider, prompt, sources }: ManifestFacts) => ({
  run_id,
  asset_id,
  provider,
  ...(task && { task }),
  ...(model && { model }),
  ...(prompt !== undefined && { prompt }),
  sources: sources.map(({ asset_id, run_id, relationship }) => ({ asset_id, run_id, relationship })),
});

/**
 * What was done to the original: a received image loses its metadata, and with it its own manifest; an output is
 * converted to another format.
 */
const COPIES = {
  source: { title: () => "file as received", action: "c2pa.edited.metadata" },
  conversion: { title: (assetId: string) => `asset ${assetId}`, action: "c2pa.transcoded" },
} as const;
export type CopyKind = keyof typeof COPIES;

/** The manifest of a file with the same pixels as its only ingredient. */
export function buildCopyManifest(facts: {
  kind: CopyKind;
  run_id: string;
  asset_id: string;
  media_type: string;
  originalType: string;
  time: string;
}): BuiltManifest {
  const { kind, run_id, asset_id, media_type, originalType, time } = facts;
  const label = RECEIVED_LABEL;
  const { title, action } = COPIES[kind];
  return {
    ingredients: [{ title: title(asset_id), format: originalType, relationship: "parentOf", label }],
    definition: {
      claim_generator_info: [{ name: "Gesso", version: VERSION }],
      format: media_type,
      title: `asset ${asset_id}`,
      assertions: [
        {
          label: "c2pa.actions",
          data: {
            actions: [
              { action: "c2pa.opened", when: time, parameters: { ingredientIds: [label] } },
              { action, when: time },
            ],
          },
        },
        { label: RUN_ASSERTION, data: { run_id, asset_id, sources: [] } },
      ],
    },
  };
}
