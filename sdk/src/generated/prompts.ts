// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, callRun, type Call, type ListCall, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import type { Operation } from "../operation.ts";
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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

const PROMPTS_CREATE: Operation = {"name":"prompts.create","method":"POST","path":"/api/v1/prompts","bodies":["json"],"creates":true,"fields":{"type":"object","required":["name","text"],"properties":{"name":{"type":"string","minLength":1,"maxLength":200},"text":{"type":"string","minLength":1,"maxLength":8000},"model_type":{"anyOf":[{"type":"string","enum":["flux-dev","vendorb-imagen4","flux-kontext-max","vendora","wan-image-2.1","wan-image-2.2","flux-kontext-multi","nanobanana","qwen-image-edit","gemini-2.5","vendorc"]},{"type":"null"}]},"tags":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":50}}}}};

const PROMPTS_DELETE: Operation = {"name":"prompts.delete","method":"DELETE","path":"/api/v1/prompts/{id}","fields":{"type":"object","required":["id"],"properties":{"id":{"type":"string","format":"uuid"}}}};

const PROMPTS_ENHANCE: Operation = {"name":"prompts.enhance","method":"POST","path":"/api/v1/prompts/enhance","bodies":["json"],"creates":true,"fields":{"type":"object","required":["prompt"],"properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"model_type":{"type":"string","enum":["flux-dev","vendorb-imagen4","flux-kontext-max","vendora","wan-image-2.1","wan-image-2.2","flux-kontext-multi","nanobanana","qwen-image-edit","gemini-2.5","vendorc"]},"style":{"type":"string","maxLength":200},"language":{"type":"string","maxLength":64},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

const PROMPTS_GET: Operation = {"name":"prompts.get","method":"GET","path":"/api/v1/prompts/{id}","fields":{"type":"object","required":["id"],"properties":{"id":{"type":"string","format":"uuid"},"version":{"type":"integer","minimum":1,"maximum":2147483647}}}};

const PROMPTS_LIST: Operation = {"name":"prompts.list","method":"GET","path":"/api/v1/prompts","fields":{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100},"cursor":{"type":"string","maxLength":1024},"tag":{"type":"string","minLength":1,"maxLength":50},"q":{"type":"string","maxLength":200}}}};

const PROMPTS_UPDATE: Operation = {"name":"prompts.update","method":"PATCH","path":"/api/v1/prompts/{id}","bodies":["json"],"fields":{"type":"object","required":["id","id"],"properties":{"id":{"type":"string","format":"uuid"},"name":{"type":"string","minLength":1,"maxLength":200},"text":{"type":"string","minLength":1,"maxLength":8000},"model_type":{"anyOf":[{"type":"string","enum":["flux-dev","vendorb-imagen4","flux-kontext-max","vendora","wan-image-2.1","wan-image-2.2","flux-kontext-multi","nanobanana","qwen-image-edit","gemini-2.5","vendorc"]},{"type":"null"}]},"tags":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":50}},"version":{"type":"integer","minimum":1,"maximum":2147483647}}},"rules":[{"anyOf":[{"required":["name"]},{"required":["text"]},{"required":["model_type"]},{"required":["tags"]}]}]};

/**
 * The operations of this group on a connection of their own.
 * @example const prompts = promptsOf(connect({ baseUrl, apiKey }))
 */
export function promptsOf(connection: Connection): Prompts {
  return {
    create: call(connection, PROMPTS_CREATE),
    delete: byId(call(connection, PROMPTS_DELETE), "id"),
    enhance: callRun(connection, PROMPTS_ENHANCE),
    get: byIdWith(call(connection, PROMPTS_GET), "id"),
    list: callList(connection, PROMPTS_LIST),
    update: byIdWith(call(connection, PROMPTS_UPDATE), "id"),
  } as unknown as Prompts;
}
