// What the words in the name of a field say about the file in it. The kind of an input is a hint for forms and never a
// reason for a refusal: providers call a zip file `image_data_url`.
import type { MediaKind } from "../contract/pinned-model.ts";

/**
 * The first kind that has one of the words. Narrow words come first: `video_mask_image` is an image, `lora_video` is
 * not.
 */
const WORDS: [kind: MediaKind, words: string][] = [
  ["image", "mask"],
  // An animation as data, which a player draws.
  ["text", "lottie"],
  ["archive", "archive zip tar dataset training"],
  ["weights", "lora loras weight safetensors checkpoint diffusers embedding tensor config"],
  ["model", "glb gltf obj fbx usdz stl mesh 3d ply splat gaussian geometry material pointcloud voxel"],
  ["video", "video clip movie animation mp4 webm gif"],
  ["audio", "audio speech voice song music vocal sound wav mp3 flac stem drum bass instrumental speaker track"],
  [
    "image",
    "image img photo picture frame face texture depth normal sketch pose thumbnail png jpg jpeg webp svg garment " +
      "selfie logo poster cover screenshot portrait avatar character background foreground reference ref style",
  ],
  ["text", "subtitle transcript transcription srt vtt caption json csv pdf document text prompt markdown"],
];
const KIND_OF_WORD = new Map(WORDS.flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind] as const)));
const RANK = new Map(WORDS.flatMap(([, words], rank) => words.split(" ").map((word) => [word, rank] as const)));

/** `promptImageURLs` and `prompt_image_urls` have the same words. Plurals count as their singular. */
export function splitWords(text: string): string[] {
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).map((word) => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word));
}

/** They say what a file shows, not in which form: raw depths can be an image and an array of numbers. */
const CONTENTS = new Set(
  "depth normal texture pose sketch style reference ref background foreground character avatar animation".split(" "),
);

/**
 * By the first text that has a known word. A result that is of another kind than its schema announces is refused, so
 * its kind is judged with more care than the hint for a form.
 */
export function findKind(texts: readonly (string | undefined)[], isResult: boolean): MediaKind {
  for (const text of texts) {
    const words = splitWords(text ?? "");
    const known = words.filter((word) => RANK.has(word) && !(isResult && CONTENTS.has(word)));
    const first = known.toSorted((a, b) => RANK.get(a)! - RANK.get(b)!)[0];
    if (first !== undefined) return KIND_OF_WORD.get(first)!;
  }
  return "file";
}

const MEDIA = new Set(["image", "video", "audio", "mask", "file"]);
const ADDRESSES = [
  ...["webhook", "callback", "website", "web", "page", "thread", "redirect", "homepage", "permalink", "huggingface"],
  ...["hf", "repo", "repository", "civitai", "endpoint", "api"],
];

/** Whether the name says that the text is a URL: `image_url`, `imageUrls`, `pdf_uri`. */
export const namesUrl = (name: string): boolean => splitWords(name).some((word) => ["url", "uri"].includes(word));

/** Whether the name is that of a medium: `audio`, `garment_image`, `promptImage`. */
export const namesMedium = (name: string): boolean =>
  MEDIA.has(splitWords(name).at(-1) ?? "") || name === "image_source";

/**
 * Whether a URL with this name is one to talk to or to read about, not a file. A source is one unless it is of a
 * medium.
 */
export function namesAddress(name: string): boolean {
  const words = splitWords(name);
  const isSource = words.includes("source") && !words.some((word) => MEDIA.has(word));
  return isSource || words.some((word) => ADDRESSES.includes(word));
}

export const speaksOfUrl = (description: string): boolean => /\b(urls?|uris?|base64)\b/i.test(description);
