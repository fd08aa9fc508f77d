import { z } from "zod";
import { runFields, runId, textField } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { defineOperation } from "../../kit/operation.ts";
import { asUpload, Upload } from "../../kit/schemas/run.ts";

export const uploadImage = defineOperation({
  name: "images.upload",
  summary: "Store an image of yours, to be used by later operations",
  http: { method: "POST", path: "/upload", bodies: ["form"], status: 201 },

  input: z.object({
    file: fileField("The image: JPEG, PNG or WebP, at most 25 MiB"),
    description: textField("What the image is", 2000).optional(),
    parent_id: runId("The run that the image belongs to").optional(),
    isMask: z.boolean().default(false).describe("The image is a mask: white is what changes"),
    ...runFields,
  }),
  output: Upload,
  example: {},

  // An upload has ended when it is answered: there is nothing to wait for.
  respond: async ({ file: image, sync: _sync, ...notes }, ask) => asUpload(await ask.upload(image, notes)),
  renderError: (fault) => ({ success: false, ...fault }),
});
