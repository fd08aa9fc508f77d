// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, type Call, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { address, integer, like, some, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { ImageSource } from "../sources.ts";
import type { Model, ModelGrant, ModelGrantPage, ModelPage } from "./shapes.ts";

/** What `models.create` takes. */
export type ModelsCreateInput = {
  /** What the model is called */
  name: string;
  /** The model type that it is made for */
  model_type: "flux-dev" | "wan-image-2.1" | "wan-image-2.2" | "qwen-image-edit";
  /** Its name where it runs: the LoRA's file, without `.safetensors` */
  deployment_id: string;
  /** The word that calls it; it is put into prompts that lack it. Default null */
  trigger_word?: string | null;
  /** What it is good for. Default null */
  description?: string | null;
  /** Address of a picture that shows what it makes. Default null */
  preview_image_url?: ImageSource | null;
  /** Who may use it beside those with a grant: its owner, the owner's tenant, or everybody. Default "private" */
  visibility?: "private" | "tenant" | "public";
};

/** What `models.grants.create` takes. */
export type ModelsGrantsCreateInput = {
  /** A user; of your own tenant where no tenant is named */
  user_id?: string;
  /** A tenant; all of it where no user is named */
  tenant_id?: string;
};

/** What `models.grants.delete` takes. */
export type ModelsGrantsDeleteInput = {
  /** A user; of your own tenant where no tenant is named */
  user_id?: string;
  /** A tenant; all of it where no user is named */
  tenant_id?: string;
};

/** What `models.grants.list` takes. */
export type ModelsGrantsListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** What `models.list` takes. */
export type ModelsListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
  /** Only models that are made for this model type */
  model_type?: "flux-dev" | "wan-image-2.1" | "wan-image-2.2" | "qwen-image-edit";
  /** `disabled` lists the disabled ones that are yours to enable. Default "active" */
  status?: "active" | "disabled";
};

/** What `models.update` takes. */
export type ModelsUpdateInput = {
  /** What the model is called */
  name?: string;
  /** The model type that it is made for */
  model_type?: "flux-dev" | "wan-image-2.1" | "wan-image-2.2" | "qwen-image-edit";
  /** Its name where it runs: the LoRA's file, without `.safetensors` */
  deployment_id?: string;
  /** The word that calls it; it is put into prompts that lack it */
  trigger_word?: string | null;
  /** What it is good for */
  description?: string | null;
  /** Address of a picture that shows what it makes */
  preview_image_url?: ImageSource | null;
  /** Who may use it beside those with a grant: its owner, the owner's tenant, or everybody */
  visibility?: "private" | "tenant" | "public";
  /** A disabled model can be used by nobody */
  status?: "active" | "disabled";
};

/** The operations `models.*`. */
export type Models = {
  /**
   * Register a model of your own, such as a LoRA.
   * @example await client.models.create({ name: "Ink drawings", model_type: "wan-image-2.1", deployment_id: "ink-v2", trigger_word: "inkstyle" })
   */
  create: (input: ModelsCreateInput, options?: CallOptions) => Call<Model>;
  /**
   * Delete a custom model with its grants; answers the model as it was.
   * @example await client.models.delete("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  delete: (model_id: string, options?: CallOptions) => Call<Model>;
  /**
   * A custom model that you may use.
   * @example await client.models.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (model_id: string, options?: CallOptions) => Call<Model>;
  grants: {
    /**
     * Let a user or a whole tenant use a custom model.
     * - Give at least one of user_id, tenant_id.
     * @example await client.models.grants.create("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { user_id: "maria" })
     */
    create: (model_id: string, input?: ModelsGrantsCreateInput, options?: CallOptions) => Call<ModelGrant>;
    /**
     * Take a grant back; runs that still wait in the queue will not start.
     * - Give at least one of user_id, tenant_id.
     * @example await client.models.grants.delete("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
     */
    delete: (model_id: string, input?: ModelsGrantsDeleteInput, options?: CallOptions) => Call<ModelGrant>;
    /**
     * Who may use a custom model by a grant, newest first.
     * @example await client.models.grants.list("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
     */
    list: (model_id: string, input?: ModelsGrantsListInput, options?: CallOptions) => ListCall<ModelGrantPage>;
  };
  /**
   * The custom models that you may use, newest first.
   * @example await client.models.list()
   */
  list: (input?: ModelsListInput, options?: CallOptions) => ListCall<ModelPage>;
  /**
   * Change a custom model; runs that were accepted before go on as they were planned.
   * - Give at least one of name, model_type, deployment_id, trigger_word, description, preview_image_url, visibility, status.
   * @example await client.models.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { visibility: "tenant" })
   */
  update: (model_id: string, input?: ModelsUpdateInput, options?: CallOptions) => Call<Model>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const models = modelsOf(connect({ baseUrl, apiKey }))
 */
export function modelsOf(connection: Connection): Models {
  return {
    create: call(connection, {
      name: "models.create",
      path: "/api/v1/models",
      bodies: "json",
      creates: true,
      required: ["name","model_type","deployment_id"],
      fields: { name: text(1, 200), model_type: words("flux-dev", "wan-image-2.1", "wan-image-2.2", "qwen-image-edit"), deployment_id: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"), trigger_word: { anyOf: [text(1, 100), {"type":"null"}] }, description: { anyOf: [text(0, 2000), {"type":"null"}] }, preview_image_url: { anyOf: [address, {"type":"null"}] }, visibility: words("private", "tenant", "public") },
    }),
    delete: byId(call(connection, {
      name: "models.delete",
      method: "DELETE",
      path: "/api/v1/models/{model_id}",
      required: ["model_id"],
      fields: { model_id: uuid },
    }), "model_id"),
    get: byId(call(connection, {
      name: "models.get",
      method: "GET",
      path: "/api/v1/models/{model_id}",
      required: ["model_id"],
      fields: { model_id: uuid },
    }), "model_id"),
    grants: {
      create: byIdWith(call(connection, {
        name: "models.grants.create",
        path: "/api/v1/models/{model_id}/grants",
        bodies: "json",
        creates: true,
        required: ["model_id","model_id"],
        fields: { model_id: uuid, user_id: text(1, 255), tenant_id: uuid },
        rules: [some("user_id", "tenant_id")],
      }), "model_id"),
      delete: byIdWith(call(connection, {
        name: "models.grants.delete",
        method: "DELETE",
        path: "/api/v1/models/{model_id}/grants",
        required: ["model_id"],
        fields: { model_id: uuid, user_id: text(1, 255), tenant_id: uuid },
      }), "model_id"),
      list: byIdWith(callList(connection, {
        name: "models.grants.list",
        method: "GET",
        path: "/api/v1/models/{model_id}/grants",
        required: ["model_id"],
        fields: { model_id: uuid, limit: integer(1, 100), cursor: text(0, 1024) },
      }), "model_id"),
    },
    list: callList(connection, {
      name: "models.list",
      method: "GET",
      path: "/api/v1/models",
      fields: { limit: integer(1, 100), cursor: text(0, 1024), model_type: words("flux-dev", "wan-image-2.1", "wan-image-2.2", "qwen-image-edit"), status: words("active", "disabled") },
    }),
    update: byIdWith(call(connection, {
      name: "models.update",
      method: "PATCH",
      path: "/api/v1/models/{model_id}",
      bodies: "json",
      required: ["model_id","model_id"],
      fields: { model_id: uuid, name: text(1, 200), model_type: words("flux-dev", "wan-image-2.1", "wan-image-2.2", "qwen-image-edit"), deployment_id: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"), trigger_word: { anyOf: [text(1, 100), {"type":"null"}] }, description: { anyOf: [text(0, 2000), {"type":"null"}] }, preview_image_url: { anyOf: [address, {"type":"null"}] }, visibility: words("private", "tenant", "public"), status: words("active", "disabled") },
      rules: [some("name", "model_type", "deployment_id", "trigger_word", "description", "preview_image_url", "visibility", "status")],
    }), "model_id"),
  } as unknown as Models;
}
