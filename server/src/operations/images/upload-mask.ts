import { defineVariant } from "../../kit/operation.ts";
import { uploadImage } from "./upload.ts";

export const uploadMask = defineVariant(uploadImage, {
  name: "images.uploadMask",
  summary: "Upload a mask. White marks the area that changes",
  fixedValues: { isMask: true },
});
