import { z } from "zod";
import { everyRun, runId, words } from "../../kit/fields.ts";
import { file } from "../../kit/files.ts";
import { defineOperation } from "../../kit/operation.ts";
import { asUpload, Upload } from "../../kit/shapes.ts";

export const uploadImage = defineOperation({
  name: "images.upload",
  summary: "Store an image of yours, to be used by later operations",
  http: { method: "POST", path: "/upload", bodies: ["form"], status: 201 },

  input: z.object({
    file: file("The image: JPEG, PNG or WebP, at most 25 MiB"),
    description: words("What the image is", 2000).optional(),
    parent_id: runId("The run that the image belongs to").optional(),
    isMask: z.boolean().default(false).describe("The image is a mask: white is what changes"),
    ...everyRun,
  }),
  output: Upload,
  example: {},

  // An upload has ended when it is answered: there is nothing to wait for.
  answer: async ({ file: image, sync: _sync, ...notes }, ask) => asUpload(await ask.upload(image, notes)),
  refusal: (fault) => ({ success: false, ...fault }),
});
