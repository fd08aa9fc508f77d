// The one shape in which this vendor says no.
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";

export type Refusal = { status: ContentfulStatusCode; code: string; message: string };

export const refuse = (context: Context, { status, code, message }: Refusal): Response =>
  context.json({ error: { code, message } }, status);

export const notFound: Refusal = { status: 404, code: "not_found", message: "There is nothing here." };

export const unfit = (message: string): Refusal => ({ status: 422, code: "invalid_parameters", message });

export const unfitFields = (error: z.ZodError): Refusal =>
  unfit(error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`).join("; "));
