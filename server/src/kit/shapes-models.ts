// The shapes of the registry of custom models, with the fields that its operations take.
import { z } from "zod";
import { imageUrl, visible, words } from "./fields.ts";
import { pageOf } from "./pages.ts";

const VISIBILITIES = ["private", "tenant", "public"] as const;
const MODEL_STATES = ["active", "disabled"] as const;

export const Model = z
  .object({
    model_id: z.uuid().describe("Give it as `model_id` to generate"),
    name: z.string(),
    model_type: z.string().describe("The model type that it is made for"),
    deployment_id: z.string().describe("Its name where it runs: the LoRA's file, without `.safetensors`"),
    trigger_word: z.string().nullable().describe("The word that calls it; it is put into prompts that lack it"),
    description: z.string().nullable(),
    preview_image_url: z.string().nullable(),
    visibility: z.enum(VISIBILITIES).describe("Its owner, the owner's tenant, or everybody may use it"),
    owner: z.string().describe("The user who registered it"),
    status: z.enum(MODEL_STATES).describe("A disabled model can be used by nobody"),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

export const ModelPage = pageOf(Model, "ModelPage");
export type ModelPage = z.infer<typeof ModelPage>;

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

export const ModelGrantPage = pageOf(ModelGrant, "ModelGrantPage");
export type ModelGrantPage = z.infer<typeof ModelGrantPage>;

export const modelId = () => z.uuid().describe("The model");
export const modelName = () => visible("What the model is called", 200);
export const triggerWord = () =>
  visible("A word", 100).nullable().describe("The word that calls it; it is put into prompts that lack it");
export const modelDescription = () => words("Words", 2000).nullable().describe("What it is good for");
export const previewImage = () =>
  imageUrl("An address").nullable().describe("Address of a picture that shows what it makes");
export const visibility = () =>
  z
    .enum(VISIBILITIES)
    .describe("Who may use it beside those with a grant: its owner, the owner's tenant, or everybody");
export const modelStatus = () => z.enum(MODEL_STATES).describe("A disabled model can be used by nobody");

/** Whom a grant is for. */
export const grantee = {
  user_id: visible("A user; of your own tenant where no tenant is named", 255).optional(),
  tenant_id: z.uuid().optional().describe("A tenant; all of it where no user is named"),
};
