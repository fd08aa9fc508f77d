// Reads what a page downloads. The browser is another process, so a download has no path that a test could open.
import type { Download } from "playwright-core";

export async function readDownload(download: Download): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
