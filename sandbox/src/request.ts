// The body of a POST. Unknown fields are rejected, as by a strict vendor.
import { z } from "zod";

const webAddress = z.url({ protocol: /^https?$/ });

const Image = z.union([
  z.strictObject({ url: webAddress }),
  z.strictObject({ base64: z.base64().min(1), media_type: z.string().min(1) }),
]);

const side = z.number().int().min(16).max(2048);

export const JobRequest = z.strictObject({
  model: z.string().min(1).max(200),
  task: z.string().min(1),
  prompt: z.string().max(20_000).optional(),
  negative_prompt: z.string().max(20_000).optional(),
  width: side.optional(),
  height: side.optional(),
  aspect_ratio: z
    .string()
    .regex(/^[1-9]\d{0,3}:[1-9]\d{0,3}$/, "is written like 16:9")
    .optional(),
  seed: z.number().int().min(0).optional(),
  count: z.number().int().min(1).max(4).default(1),
  images: z.array(Image).max(16).default([]),
  mask: Image.optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  reference: z.string().min(1).max(500).optional(),
  callback_url: webAddress.optional(),
});

export type JobRequest = z.infer<typeof JobRequest>;
export type Image = z.infer<typeof Image>;

/** An image as it is stored: bytes that came with the request are in a file, so that the ledger stays small. */
export type StoredImage = { url: string } | { file: string; media_type: string };

/** A request as it is stored: without the directives in the prompt and the bytes of the images. */
export type StoredRequest = Omit<JobRequest, "prompt" | "images" | "mask"> & {
  prompt: string;
  images: StoredImage[];
  mask?: StoredImage | undefined;
};
