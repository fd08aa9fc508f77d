// Printed by `npm run generate` from the code; never edited by hand.
import { byId, call, callBoth, type Call, type PictureFormOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import { boolean, inline, number, object, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { ImageSource } from "../sources.ts";
import type { Layers, PictureFields } from "./shapes.ts";

/** What `edit.maskImage` takes. */
export type EditMaskImageInput = PictureFields & {
  /** The image: address, base64 or run id; in a form also a file */
  original_image_url: ImageSource;
  /** Mask of the same size: white is what changes */
  mask_image_url: ImageSource;
  /** What to put there; without it the marked part is removed and filled */
  prompt?: string;
};

/** The operations `edit.*`. */
export type Edit = {
  /**
   * What a run was made of and what it made, as layers from the bottom up.
   * @example await client.edit.getLayers("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  getLayers: (run_id: string, options?: CallOptions) => Call<Layers>;
  /**
   * Change what a mask marks in an image, or take it out; answers a PNG.
   * @example await client.edit.maskImage({ original_image_url: "https://example.com/desk.png", mask_image_url: "https://example.com/mask.png", prompt: "a green plant" })
   */
  maskImage: PictureFormOperation<EditMaskImageInput>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const edit = editOf(connect({ baseUrl, apiKey }))
 */
export function editOf(connection: Connection): Edit {
  const run = { sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object };
  return {
    getLayers: byId(call(connection, {
      name: "edit.getLayers",
      method: "GET",
      path: "/api/v1/runs/{run_id}/layers",
      required: ["run_id"],
      fields: { run_id: uuid },
    }), "run_id"),
    maskImage: callBoth(connection, {
      name: "edit.maskImage",
      path: "/api/v1/edits/mask",
      bodies: "json form",
      creates: true,
      binary: true,
      waits: true,
      required: ["original_image_url","mask_image_url"],
      fields: { original_image_url: inline, mask_image_url: inline, prompt: text(1, 8000), ...run },
    }),
  } as unknown as Edit;
}
