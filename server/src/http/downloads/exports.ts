// Serves the export of a tenant at a signed URL that is valid for a day. The response is generated while it is read,
// so a slow client slows the export down and needs no memory; each export holds one database connection.
import { type Context, Hono } from "hono";
import { exportScope } from "../../access/tenant-export.ts";
import { Fault } from "../../faults/faults.ts";
import { exportTenant } from "../../library/export-tenant.ts";
import { respondWithFault } from "../error-response.ts";
import type { HttpServices } from "../http-services.ts";
import type { HttpBindings } from "../read-request.ts";

const TENANT_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
/** Per process. */
const MAX_EXPORTS = 2;
const RETRY_SECONDS = 60;

export function exportRoutes(http: HttpServices): Hono<HttpBindings> {
  const app = new Hono<HttpBindings>();
  let open = 0;
  const serveExport = async (context: Context<HttpBindings>): Promise<Response> => {
    const tenantId = context.req.param("tenant_id")!;
    verifySignature(http, tenantId, context.req.param("signature")!);
    if (open >= MAX_EXPORTS) throw new Fault("rate_limited", { policy: "exports", retry_after: RETRY_SECONDS });
    const lines = exportTenant(http.runs, tenantId);
    open++;
    context.env.outgoing.once("close", () => {
      open--;
      void lines.return(undefined);
    });
    // Awaited here, so that an unknown tenant is an error response.
    const first = await lines.next();
    return context.newResponse(streamOf(first.value as string, lines), 200, {
      "content-type": "application/x-ndjson",
      "content-disposition": `attachment; filename="${tenantId}.jsonl"`,
      "cache-control": "no-store",
    });
  };
  app.get(`/exports/:tenant_id{${TENANT_ID}}/:signature`, (context) =>
    serveExport(context).catch((thrown) => respondWithFault(context, thrown, http.runs.log)),
  );
  return app;
}

/** A wrong signature and a missing export look the same. */
function verifySignature({ cursors }: HttpServices, tenantId: string, signature: string): void {
  try {
    cursors.verify(exportScope(tenantId), signature);
  } catch (cause) {
    throw new Fault("route_not_found", {}, { cause });
  }
}

function streamOf(first: string, lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}
