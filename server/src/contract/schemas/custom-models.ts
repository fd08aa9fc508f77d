// Schemas of the registry of custom models, and the input fields of its operations.
import { z } from "zod";
import { imageUrl, nonBlankText, textField } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

const VISIBILITIES = ["private", "tenant", "public"] as const;
const MODEL_STATES = ["active", "disabled"] as const;

export const CustomModel = z
  .object({
    model_id: z.uuid().describe("ID of the model. Send it as `model_id` to images.generate"),
    name: z.string(),
    model_type: z.string().describe("Model type that the custom model belongs to"),
    deployment_id: z.string().describe("Name of the model at the provider: the LoRA file without `.safetensors`"),
    trigger_word: z.string().nullable().describe("Trigger word. Added to prompts that do not contain it"),
    description: z.string().nullable(),
    preview_image_url: z.string().nullable(),
    visibility: z
      .enum(VISIBILITIES)
      .describe("Who can use the model: its owner (private), the owner's tenant (tenant) or all tenants (public)"),
    owner: z.string().describe("User who registered the model"),
    status: z.enum(MODEL_STATES).describe("Disabled models cannot be used in runs"),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Model" });
export type CustomModel = z.infer<typeof CustomModel>;

export const CustomModelPage = pageSchema(CustomModel, "ModelPage");
export type CustomModelPage = z.infer<typeof CustomModelPage>;

export const ModelGrant = z
  .object({
    grant_id: z.uuid(),
    model_id: z.uuid(),
    tenant_id: z.uuid().describe("Tenant that can use the model"),
    user_id: z.string().nullable().describe("User who can use the model. null: the whole tenant"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "ModelGrant" });
export type ModelGrant = z.infer<typeof ModelGrant>;

export const ModelGrantPage = pageSchema(ModelGrant, "ModelGrantPage");
export type ModelGrantPage = z.infer<typeof ModelGrantPage>;

export const modelId = () => z.uuid().describe("ID of the model");
export const modelName = () => nonBlankText("Name of the model, 1 to 200 characters", 200);
export const triggerWord = () =>
  nonBlankText("", 100).nullable().describe("Trigger word. Added to prompts that do not contain it");
export const modelDescription = () =>
  textField("", 2000).nullable().describe("Description of the model, at most 2,000 characters");
export const previewImage = () => imageUrl("").nullable().describe("URL of a sample image");
export const visibility = () =>
  z
    .enum(VISIBILITIES)
    .describe(
      "Who can use the model in addition to grantees: its owner (private), the owner's tenant (tenant), or all tenants (public)",
    );
export const modelStatus = () => z.enum(MODEL_STATES).describe("Disabled models cannot be used in runs");

/** The user or tenant that a grant names. */
export const grantee = {
  user_id: nonBlankText("User who can use the model. Without `tenant_id`: a user of your own tenant", 255).optional(),
  tenant_id: z.uuid().optional().describe("Tenant that can use the model. Without `user_id`: all its users"),
};
