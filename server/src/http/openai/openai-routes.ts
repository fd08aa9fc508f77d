// The image API of OpenAI below `/openai/v1`, for clients that speak it. Requests become ordinary runs; responses and
// errors have OpenAI's shape.
import { type Context, Hono } from "hono";
import { mayCall } from "../../access/scopes.ts";
import { Fault } from "../../faults/faults.ts";
import { getCatalogue } from "../../operations/catalogue/get.ts";
import { generateImage } from "../../operations/images/generate.ts";
import type { HttpServices } from "../http-services.ts";
import { admit, serve } from "../pipeline.ts";
import type { HttpBindings } from "../read-request.ts";
import { createImageDialect } from "./create-images.ts";
import { createModelNames, type ModelNames } from "./model-names.ts";
import { respondWithOpenAiError } from "./openai-error.ts";

const PREFIX = "/openai/v1";

export function openAiRoutes(http: HttpServices): Hono<HttpBindings> {
  const { log } = http.runs;
  const app = new Hono<HttpBindings>();
  const respond = (handle: (context: Context<HttpBindings>) => Promise<Response>) => (context: Context<HttpBindings>) =>
    handle(context).catch((thrown) => respondWithOpenAiError(context, thrown, log));
  for (const endpoint of ["generations", "edits", "variations"] as const) {
    app.post(`${PREFIX}/images/${endpoint}`, serve(http, createImageDialect(http, endpoint)));
  }
  app.get(
    `${PREFIX}/models`,
    respond(async (context) => {
      const names = await findUsableNames(http, context);
      return context.json({ object: "list", data: (names?.list() ?? []).map(renderModel) });
    }),
  );
  // The names of some providers' models contain slashes.
  app.get(
    `${PREFIX}/models/:model{.+}`,
    respond(async (context) => {
      const model = context.req.param("model") ?? "";
      const names = await findUsableNames(http, context);
      if (!names?.has(model)) throw new Fault("model_not_found", { model });
      return context.json(renderModel(model));
    }),
  );
  app.all(
    `${PREFIX}/*`,
    respond(async () => {
      throw new Fault("route_not_found");
    }),
  );
  return app;
}

/** The models that the caller may use. Undefined if its key may not create images. */
const findUsableNames = (http: HttpServices, context: Context<HttpBindings>): Promise<ModelNames | undefined> =>
  admit(http, context, { operation: getCatalogue }, async ({ caller }) =>
    mayCall(caller, generateImage) ? createModelNames(http.runs.providers.enabled) : undefined,
  );

/** Gesso does not know when the provider made a model. */
const renderModel = (id: string) => ({ id, object: "model", created: 0, owned_by: "gesso" });
