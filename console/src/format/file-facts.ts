// What a file is, in words. Its URL has the extension of its format. A file without pixels has no size in pixels.
import type { Output } from "@gesso/client";
import { formatBytes } from "./bytes.ts";

export const extensionOf = ({ url }: Pick<Output, "url">): string => url.slice(url.lastIndexOf(".") + 1);

/** Undefined for files whose size in pixels the server does not know. */
export const formatSize = ({ width, height }: Pick<Output, "width" | "height">): string | undefined =>
  width && height ? `${width} × ${height}` : undefined;

export const formatFile = (output: Output): string =>
  [
    [extensionOf(output).toUpperCase(), formatSize(output)].filter(Boolean).join(" "),
    formatBytes(output.size_bytes),
  ].join(" · ");

/** Width and height as attributes of an element, where they are known. */
export const sizeAttributes = ({ width, height }: Pick<Output, "width" | "height">) =>
  width && height ? { width, height } : {};
