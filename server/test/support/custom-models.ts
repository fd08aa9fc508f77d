// Custom models for tests, inserted directly into the database: some under IDs of this test process, others for an
// owner that the test chooses.
import { v7 } from "uuid";
import { normalizeLoraName } from "../../src/db/library/custom-models.ts";
import { DEFAULT_TENANT } from "./tenants.ts";
import type { TestEnvironment } from "./test-environment.ts";

const DEFAULT_OWNER = { tenant_id: DEFAULT_TENANT, owner: "owner" };

/** One for each model type that takes a model ID. Each test process has its own: files share an installation. */
export const MODEL_IDS = {
  "flux-dev": v7(),
  "wan-image-2.1": v7(),
  "wan-image-2.2": v7(),
} as const;

export type CustomModelOptions = {
  model_id?: string;
  tenant_id?: string;
  owner?: string;
  model_type?: string;
  deployment_id?: string;
  trigger_word?: string;
  visibility?: "private" | "tenant" | "public";
};

/** Answers the model's id. */
export async function insertTestModel(
  environment: Pick<TestEnvironment, "query">,
  about: CustomModelOptions = {},
): Promise<string> {
  const {
    model_id = v7(),
    tenant_id = DEFAULT_OWNER.tenant_id,
    owner = DEFAULT_OWNER.owner,
    model_type = "wan-image-2.1",
  } = about;
  const { deployment_id = `lora-${model_id}`, trigger_word = null, visibility = "private" } = about;
  await environment.query(
    "insert into lora_names (lora_name, tenant_id, owner) values ($1, $2, $3) on conflict do nothing",
    [...[normalizeLoraName(deployment_id), tenant_id, owner]],
  );
  await environment.query(
    `insert into models (model_id, tenant_id, owner, name, model_type, deployment_id, lora_name, trigger_word, visibility)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[model_id, tenant_id, owner, "Ink", model_type, deployment_id, normalizeLoraName(deployment_id)],
      ...[trigger_word, visibility],
    ],
  );
  return model_id;
}

export async function insertDefaultTestModels(
  environment: Pick<TestEnvironment, "query">,
  tenant_id: string = DEFAULT_TENANT,
): Promise<void> {
  for (const [model_type, model_id] of Object.entries(MODEL_IDS))
    await insertTestModel(environment, { model_id, model_type, tenant_id });
}
