// Errors of the OpenAI API: their body, and the reasons that all routes share.
import type { FakeVendorServices } from "./fake-vendor.ts";

type Complaint = { message: string; type?: string; param?: string | null; code?: string | null };
export const errorBody = ({ message, type = "invalid_request_error", param = null, code = null }: Complaint) => ({
  error: { message, type, param, code },
});
/** Its own body for an error of this status. */
export const errorBodyFor = (status: number) => {
  if (status === 429)
    return errorBody({ message: "Rate limit reached.", type: "requests", code: "rate_limit_exceeded" });
  if (status >= 500) return errorBody({ message: "The server had an error.", type: "server_error" });
  return errorBody({ message: `Refused with ${status}.` });
};

/** The vendor's own report that the job failed. */
export const GENERATION_FAILED_BODY = errorBody({
  message: "Image generation failed",
  type: "image_generation_server_error",
  code: "image_generation_failed",
});

/** An invalid request; the routes return it, and no job is accepted. */
export type Rejection = { refusal: ReturnType<typeof errorBody>; status: 400 | 404 };
export const rejection = (wrong: Complaint, status: Rejection["status"] = 400): Rejection => ({
  refusal: errorBody(wrong),
  status,
});

export function unknownModel(services: FakeVendorServices, model: string, known: string[]): Rejection | undefined {
  if (known.includes(model) && !services.switches.retired.includes(model)) return undefined;
  return rejection({ message: `The model '${model}' does not exist.`, code: "model_not_found" }, 404);
}

export const isForbidden = (text: string) => text.includes("forbidden");
