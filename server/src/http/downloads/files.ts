// Serves files at signed URLs: complete or as a byte range, with the exact media type and headers that keep browsers
// from executing them. A URL is valid as long as its file exists; it takes no query string. Browsers cache files for at
// most 60 seconds, and thumbnails for a day.

import { type Context, Hono } from "hono";
import { Fault } from "../../faults/faults.ts";
import { type DownloadDependencies, openSignedAsset } from "../../library/asset-download.ts";
import type { Runtime } from "../../runs/core/runtime.ts";
import { respondWithFault } from "../error-response.ts";
import type { HttpBindings } from "../read-request.ts";
import type { LimitDownloads } from "./download-limit.ts";
import { createDownloadTurns, type TakeTurns } from "./download-turns.ts";

const ASSET_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** How long a browser may cache a file, and so how long it may show a deleted one. */
const CACHE_SECONDS = 60;
/** A gallery shows the same thumbnails again and again; each of them is a request without this. */
const THUMBNAIL_CACHE_SECONDS = 24 * 60 * 60;

/** For all file responses: no media type sniffing, no script execution, no referrer. */
export const FILE_SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "referrer-policy": "no-referrer",
};

type Dependencies = DownloadDependencies & Pick<Runtime, "log">;

export function fileRoutes(services: Dependencies, limitDownloads: LimitDownloads): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  const takeTurns = createDownloadTurns();
  const downloadServices = { ...services, database: services.database.withTurnsOf("downloads") };
  app.on(["GET", "HEAD"], `/files/:asset_id{${ASSET_ID}}/:signature`, (context) =>
    serveFile(downloadServices, context, { limitDownloads, takeTurns }).catch((thrown) => {
      for (const [name, value] of Object.entries(FILE_SECURITY_HEADERS)) context.header(name, value);
      context.header("cache-control", "no-store");
      return respondWithFault(context, thrown, services.log);
    }),
  );
  return app;
}

async function serveFile(
  services: Dependencies,
  context: Context<HttpBindings>,
  { limitDownloads, takeTurns }: { limitDownloads: LimitDownloads; takeTurns: TakeTurns },
): Promise<Response> {
  limitDownloads(context);
  // Signed URLs have no query string, so a URL with one was not issued by this server.
  if (new URL(context.req.url).search !== "") throw new Fault("asset_not_found");
  const assetId = context.req.param("asset_id")!;
  const signature = context.req.param("signature")!;
  const file = await openSignedAsset(services, assetId, signature);
  const kind = file.media_type.startsWith("image/") ? "inline" : "attachment";
  const headers: Record<string, string> = {
    "content-type": file.media_type,
    "accept-ranges": "bytes",
    etag: file.etag,
    "content-disposition": `${kind}; filename="${assetId}${signature.slice(signature.lastIndexOf("."))}"`,
    "cache-control": cacheControlFor(file.role),
    ...FILE_SECURITY_HEADERS,
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
  };
  if (context.req.header("if-none-match") === file.etag) return context.body(null, 304, headers);

  const range = readRange(context.req.header("range"), file.size_bytes);
  if (range === "unsatisfiable") {
    return context.body(null, 416, { ...headers, "content-range": `bytes */${file.size_bytes}` });
  }
  const length = range ? range.end - range.start + 1 : file.size_bytes;
  headers["content-length"] = String(length);
  if (range) headers["content-range"] = `bytes ${range.start}-${range.end}/${file.size_bytes}`;
  const body = context.req.method === "HEAD" ? null : takeTurns(await file.read(range));
  return context.newResponse(body, range ? 206 : 200, headers);
}

/** The bytes of an asset never change, so a cached thumbnail is not validated again. */
const cacheControlFor = (role: string) =>
  role === "thumbnail"
    ? `private, max-age=${THUMBNAIL_CACHE_SECONDS}, immutable`
    : `private, max-age=${CACHE_SECONDS}, must-revalidate`;

/** Parses a single byte range. Several ranges get the whole file, which HTTP allows. */
function readRange(header: string | undefined, size: number) {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end || start >= size || (from === "" && Number(to) === 0)) return "unsatisfiable" as const;
  return { start, end };
}
