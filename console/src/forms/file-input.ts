// Files that are no images. There is no upload for them, so a small one is sent within the request, as a data URL.
import { formatBytes } from "../format/bytes.ts";
import { text } from "../text/text.ts";

/** The request is sent for every price and every run, so its files must be small. */
const MAX_BYTES = 5 * 1024 * 1024;
const DATA_URL = /^data:[^,]*;base64,/;

/** What the dialog of the browser offers, by the kind of the file. Other kinds have no common media type. */
export const ACCEPTED_MEDIA: Readonly<Record<string, string>> = { audio: "audio/*", video: "video/*" };

export const isDataUrl = (value: unknown): value is string => typeof value === "string" && DATA_URL.test(value);

/** Base64 has four characters for three bytes. */
export const dataUrlSize = (url: string): number =>
  Math.floor(((url.length - url.indexOf(",") - 1) * 3) / 4) - (/=*$/.exec(url)?.[0].length ?? 0);

export function inlineProblem({ name, size }: Pick<File, "name" | "size">): string | undefined {
  if (size === 0) return text.image.empty(name);
  return size > MAX_BYTES ? text.file.tooLarge(name, formatBytes(size)) : undefined;
}

export function readDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  // A file of an unknown type would have none in its URL, which the server refuses.
  reader.readAsDataURL(file.type ? file : new Blob([file], { type: "application/octet-stream" }));
  return promise;
}
