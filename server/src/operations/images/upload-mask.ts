import { defineVariant } from "../../kit/operation.ts";
import { uploadImage } from "./upload.ts";

export const uploadMask = defineVariant(uploadImage, {
  name: "images.uploadMask",
  summary: "Store a mask: white is what changes, black is kept",
  sets: { isMask: true },
});
