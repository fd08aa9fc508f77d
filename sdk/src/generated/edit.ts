// Printed by `npm run generate` from the code; never edited by hand.
import { byId, call, callBoth, type Call, type PictureOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import type { Operation } from "../operation.ts";
import type { CallOptions } from "../settings.ts";
import type { ImageSource } from "../sources.ts";
import type { Layers, RunFields } from "./shapes.ts";

/** What `edit.maskImage` takes. */
export type EditMaskImageInput = RunFields & {
  /** The image: address, base64 or run id; in a form also a file */
  original_image_url: ImageSource;
  /** Mask of the same size: white is what changes */
  mask_image_url: ImageSource;
  /** What to put there; without it the marked part is removed and filled */
  prompt?: string;
  /** Wait for the result, at most 55 seconds; false answers the open run at once. Default true */
  sync?: boolean;
};

/** What `edit.maskImage` takes as a form. */
export type EditMaskImageForm = EditMaskImageInput;

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
  maskImage: PictureOperation<EditMaskImageInput | EditMaskImageForm> & {
    /** With a JSON body; files are uploaded first. */
    json: PictureOperation<EditMaskImageInput>;
    /** With a form; files go with it. */
    formData: PictureOperation<EditMaskImageForm>;
  };
};

const EDIT_GET_LAYERS: Operation = {"name":"edit.getLayers","method":"GET","path":"/api/v1/runs/{run_id}/layers","fields":{"type":"object","required":["run_id"],"properties":{"run_id":{"type":"string","format":"uuid"}}}};

const EDIT_MASK_IMAGE: Operation = {"name":"edit.maskImage","method":"POST","path":"/api/v1/edits/mask","bodies":["json","form"],"creates":true,"binary":true,"waits":true,"fields":{"type":"object","required":["original_image_url","mask_image_url"],"properties":{"original_image_url":{"is":"inline"},"mask_image_url":{"is":"inline"},"prompt":{"type":"string","minLength":1,"maxLength":8000},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}}};

/**
 * The operations of this group on a connection of their own.
 * @example const edit = editOf(connect({ baseUrl, apiKey }))
 */
export function editOf(connection: Connection): Edit {
  return {
    getLayers: byId(call(connection, EDIT_GET_LAYERS), "run_id"),
    maskImage: callBoth(connection, EDIT_MASK_IMAGE),
  } as unknown as Edit;
}
