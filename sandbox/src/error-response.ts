// The error response of the sandbox.
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";

export type ErrorResponse = { status: ContentfulStatusCode; code: string; message: string };

export const respondWithError = (context: Context, { status, code, message }: ErrorResponse): Response =>
  context.json({ error: { code, message } }, status);

export const notFound: ErrorResponse = { status: 404, code: "not_found", message: "Not found." };

export const invalidParameters = (message: string): ErrorResponse => ({
  status: 422,
  code: "invalid_parameters",
  message,
});

export const invalidFields = (error: z.ZodError): ErrorResponse =>
  invalidParameters(error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`).join("; "));
