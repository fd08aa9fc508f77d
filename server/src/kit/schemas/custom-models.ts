// The shapes of the registry of custom models, with the fields that its operations take.
import { z } from "zod";
import { imageUrl, nonBlankText, textField } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

const VISIBILITIES = ["private", "tenant", "public"] as const;
const MODEL_STATES = ["active", "disabled"] as const;

export const CustomModel = z
  .object({
    model_id: z.uuid().describe("Give it as `model_id` to generate"),
    name: z.string(),
    model_type: z.string().describe("The model type that it is made for"),
    deployment_id: z.string().describe("Its name where it runs: the LoRA's file, without `.safetensors`"),
    trigger_word: z.string().nullable().describe("Trigger word. Added to prompts that do not contain it"),
    description: z.string().nullable(),
    preview_image_url: z.string().nullable(),
    visibility: z.enum(VISIBILITIES).describe("Its owner, the owner's tenant, or everybody may use it"),
    owner: z.string().describe("The user who registered it"),
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
    tenant_id: z.uuid().describe("The tenant that it is given to"),
    user_id: z.string().nullable().describe("The one user that it is given to; null for the whole tenant"),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "ModelGrant" });
export type ModelGrant = z.infer<typeof ModelGrant>;

export const ModelGrantPage = pageSchema(ModelGrant, "ModelGrantPage");
export type ModelGrantPage = z.infer<typeof ModelGrantPage>;

export const modelId = () => z.uuid().describe("The model");
export const modelName = () => nonBlankText("What the model is called", 200);
export const triggerWord = () =>
  nonBlankText("A word", 100).nullable().describe("Trigger word. Added to prompts that do not contain it");
export const modelDescription = () => textField("Words", 2000).nullable().describe("What it is good for");
export const previewImage = () =>
  imageUrl("An address").nullable().describe("Address of a picture that shows what it makes");
export const visibility = () =>
  z
    .enum(VISIBILITIES)
    .describe(
      "Who can use the model in addition to grantees: its owner (private), the owner's tenant (tenant), or all tenants (public)",
    );
export const modelStatus = () => z.enum(MODEL_STATES).describe("Disabled models cannot be used in runs");

/** Whom a grant is for. */
export const grantee = {
  user_id: nonBlankText("A user; of your own tenant where no tenant is named", 255).optional(),
  tenant_id: z.uuid().optional().describe("A tenant; all of it where no user is named"),
};
