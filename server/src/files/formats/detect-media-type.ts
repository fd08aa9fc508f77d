// Says what any other file is, and which extension its URL has. The first bytes decide. The name counts only where a
// format has no signature of its own, and never makes a file one that a browser would execute.
import { fileTypeFromBuffer } from "file-type";
import { detectType } from "./detect-type.ts";

/** With so many bytes every format is recognized. */
export const HEAD_BYTES = 4100;
const UNKNOWN = "application/octet-stream";

/** Formats that are recognized by their name: text, and containers whose content only the name tells. */
const BY_EXTENSION: Record<string, string> = {
  ...{ gltf: "model/gltf+json", obj: "model/obj", mtl: "model/mtl", ply: "model/ply", stl: "model/stl" },
  ...{ usdz: "model/vnd.usdz+zip", fbx: "application/vnd.autodesk.fbx", safetensors: "application/vnd.safetensors" },
  ...{ json: "application/json", srt: "application/x-subrip", vtt: "text/vtt", csv: "text/csv", mp3: "audio/mpeg" },
};
/** Names of the library for what has a usual name. */
const USUAL_NAMES: Record<string, string> = { "audio/x-m4a": "audio/mp4", "application/ogg": "audio/ogg" };

const EXTENSIONS: Record<string, string> = {
  ...{ "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif", "image/avif": "avif" },
  ...{ "image/heic": "heic", "image/tiff": "tiff", "image/svg+xml": "svg", "image/bmp": "bmp", "image/jxl": "jxl" },
  ...{ "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "video/matroska": "mkv" },
  ...{ "audio/wav": "wav", "audio/mpeg": "mp3", "audio/flac": "flac", "audio/ogg": "ogg", "audio/mp4": "m4a" },
  ...{ "audio/aac": "aac", "audio/opus": "opus", "model/gltf-binary": "glb", "text/plain": "txt" },
  ...{ "application/zip": "zip", "application/gzip": "gz", "application/x-tar": "tar", "application/pdf": "pdf" },
  ...Object.fromEntries(Object.entries(BY_EXTENSION).map(([extension, mediaType]) => [mediaType, extension])),
};

/** Of the URL of a file. */
export const extensionOf = (mediaType: string): string =>
  Object.hasOwn(EXTENSIONS, mediaType) ? EXTENSIONS[mediaType]! : "bin";

export const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([...Object.values(EXTENSIONS), "bin"]);

/** `name`: a file name or the path of a URL. */
export async function detectMediaType(head: Uint8Array, name = ""): Promise<string> {
  const readable = detectType(head);
  if (readable) return readable;
  const extension = /\.([a-z0-9]+)$/.exec(name.toLowerCase())?.[1] ?? "";
  const named = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // A zip can be a scene, and XML a drawing.
  if (found && found !== "application/zip" && found !== "application/xml") return USUAL_NAMES[found] ?? found;
  if (isSvg(head)) return "image/svg+xml";
  if (named) return named;
  return found ?? (isText(head) ? "text/plain" : UNKNOWN);
}

const isSvg = (head: Uint8Array): boolean =>
  /^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i.test(textOf(head));

/** The head may end in the middle of a character. */
const textOf = (head: Uint8Array): string => new TextDecoder("utf-8").decode(head, { stream: true });

const isText = (head: Uint8Array): boolean =>
  head.byteLength > 0 && !/\p{Cc}|\ufffd/u.test(textOf(head).replaceAll(/\s/g, ""));
