// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, callRun, type Call, type ListCall, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import { boolean, integer, list, number, object, some, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { Enhancement, Prompt, PromptPage, RunFields } from "./shapes.ts";

/** What `prompts.create` takes. */
export type PromptsCreateInput = {
  /** What the prompt is called */
  name: string;
  /** The prompt itself */
  text: string;
  /** The model that it is written for. Default null */
  model_type?: "flux-dev" | "vendorb-imagen4" | "flux-kontext-max" | "vendora" | "wan-image-2.1" | "wan-image-2.2" | "flux-kontext-multi" | "nanobanana" | "qwen-image-edit" | "gemini-2.5" | "vendorc" | null;
  /** Words to find it by. Default [] */
  tags?: string[];
};

/** What `prompts.enhance` takes. */
export type PromptsEnhanceInput = RunFields & {
  /** The prompt as it is */
  prompt: string;
  /** The model that the prompt is for. Default "flux-dev" */
  model_type?: "flux-dev" | "vendorb-imagen4" | "flux-kontext-max" | "vendora" | "wan-image-2.1" | "wan-image-2.2" | "flux-kontext-multi" | "nanobanana" | "qwen-image-edit" | "gemini-2.5" | "vendorc";
  /** Style that the picture should have */
  style?: string;
  /** Language of the better prompt, such as en or de */
  language?: string;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
};

/** What `prompts.get` takes. */
export type PromptsGetInput = {
  /** This version; the newest where it is left out. 1 to 2147483647 */
  version?: number;
};

/** What `prompts.list` takes. */
export type PromptsListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
  /** Only prompts with this tag */
  tag?: string;
  /** Only prompts with these characters in name or text, in any case */
  q?: string;
};

/** What `prompts.update` takes. */
export type PromptsUpdateInput = {
  /** What the prompt is called */
  name?: string;
  /** The prompt itself */
  text?: string;
  /** The model that it is written for; null for none */
  model_type?: "flux-dev" | "vendorb-imagen4" | "flux-kontext-max" | "vendora" | "wan-image-2.1" | "wan-image-2.2" | "flux-kontext-multi" | "nanobanana" | "qwen-image-edit" | "gemini-2.5" | "vendorc" | null;
  /** Words to find it by */
  tags?: string[];
  /** Change it only if this is still its version. 1 to 2147483647 */
  version?: number;
};

/** The operations `prompts.*`. */
export type Prompts = {
  /**
   * Keep a prompt in the library.
   * @example await client.prompts.create({ name: "Harbour at dusk", text: "a harbour at dusk, long shadows, film grain", tags: ["harbour","film"] })
   */
  create: (input: PromptsCreateInput, options?: CallOptions) => Call<Prompt>;
  /**
   * Delete a prompt with all its versions; answers the prompt as it was.
   * @example await client.prompts.delete("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  delete: (id: string, options?: CallOptions) => Call<Prompt>;
  /**
   * Make a prompt say more, for a better picture.
   * @example await client.prompts.enhance({ prompt: "a cat", style: "watercolour", sync: true })
   */
  enhance: RunOperation<PromptsEnhanceInput, Enhancement>;
  /**
   * A prompt of the library, as it is or as it was.
   * @example await client.prompts.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (id: string, input?: PromptsGetInput, options?: CallOptions) => Call<Prompt>;
  /**
   * The prompts of the library, newest first.
   * @example await client.prompts.list()
   */
  list: (input?: PromptsListInput, options?: CallOptions) => ListCall<PromptPage>;
  /**
   * Change a prompt; every change is a new version and the old ones stay.
   * - Give at least one of name, text, model_type, tags.
   * @example await client.prompts.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { text: "a harbour at dawn, long shadows, film grain" })
   */
  update: (id: string, input?: PromptsUpdateInput, options?: CallOptions) => Call<Prompt>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const prompts = promptsOf(connect({ baseUrl, apiKey }))
 */
export function promptsOf(connection: Connection): Prompts {
  const run = { sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object };
  return {
    create: call(connection, {
      name: "prompts.create",
      path: "/api/v1/prompts",
      bodies: "json",
      creates: true,
      required: ["name","text"],
      fields: { name: text(1, 200), text: text(1, 8000), model_type: { anyOf: [words("flux-dev", "vendorb-imagen4", "flux-kontext-max", "vendora", "wan-image-2.1", "wan-image-2.2", "flux-kontext-multi", "nanobanana", "qwen-image-edit", "gemini-2.5", "vendorc"), {"type":"null"}] }, tags: list(text(1, 50), 0, 20) },
    }),
    delete: byId(call(connection, {
      name: "prompts.delete",
      method: "DELETE",
      path: "/api/v1/prompts/{id}",
      required: ["id"],
      fields: { id: uuid },
    }), "id"),
    enhance: callRun(connection, {
      name: "prompts.enhance",
      path: "/api/v1/prompts/enhance",
      bodies: "json",
      creates: true,
      required: ["prompt"],
      fields: { prompt: text(1, 8000), model_type: words("flux-dev", "vendorb-imagen4", "flux-kontext-max", "vendora", "wan-image-2.1", "wan-image-2.2", "flux-kontext-multi", "nanobanana", "qwen-image-edit", "gemini-2.5", "vendorc"), style: text(0, 200), language: text(0, 64), seed: integer(0, 4294967295), ...run },
    }),
    get: byIdWith(call(connection, {
      name: "prompts.get",
      method: "GET",
      path: "/api/v1/prompts/{id}",
      required: ["id"],
      fields: { id: uuid, version: integer(1, 2147483647) },
    }), "id"),
    list: callList(connection, {
      name: "prompts.list",
      method: "GET",
      path: "/api/v1/prompts",
      fields: { limit: integer(1, 100), cursor: text(0, 1024), tag: text(1, 50), q: text(0, 200) },
    }),
    update: byIdWith(call(connection, {
      name: "prompts.update",
      method: "PATCH",
      path: "/api/v1/prompts/{id}",
      bodies: "json",
      required: ["id","id"],
      fields: { id: uuid, name: text(1, 200), text: text(1, 8000), model_type: { anyOf: [words("flux-dev", "vendorb-imagen4", "flux-kontext-max", "vendora", "wan-image-2.1", "wan-image-2.2", "flux-kontext-multi", "nanobanana", "qwen-image-edit", "gemini-2.5", "vendorc"), {"type":"null"}] }, tags: list(text(1, 50), 0, 20), version: integer(1, 2147483647) },
      rules: [some("name", "text", "model_type", "tags")],
    }), "id"),
  } as unknown as Prompts;
}
