// How OpenAI says no: the body of its errors, and the reasons that all its routes share.
import type { Shop } from "./stand-in.ts";

type Complaint = { message: string; type?: string; param?: string | null; code?: string | null };
export const complaint = ({ message, type = "invalid_request_error", param = null, code = null }: Complaint) => ({
  error: { message, type, param, code },
});
/** Its own body for an error of this status. */
export const failing = (status: number) => {
  if (status === 429)
    return complaint({ message: "Rate limit reached.", type: "requests", code: "rate_limit_exceeded" });
  if (status >= 500) return complaint({ message: "The server had an error.", type: "server_error" });
  return complaint({ message: `Refused with ${status}.` });
};

/** Its own word that it tried and came to nothing. */
export const FAILED = complaint({
  message: "Image generation failed",
  type: "image_generation_server_error",
  code: "image_generation_failed",
});

/** What was wrong with a request; the routes answer it, and nothing is taken. */
export type Refusal = { refusal: ReturnType<typeof complaint>; status: 400 | 404 };
export const refuse = (wrong: Complaint, status: Refusal["status"] = 400): Refusal => ({
  refusal: complaint(wrong),
  status,
});

export function unknownModel(shop: Shop, model: string, known: string[]): Refusal | undefined {
  if (known.includes(model) && !shop.switches.retired.includes(model)) return undefined;
  return refuse({ message: `The model '${model}' does not exist.`, code: "model_not_found" }, 404);
}

export const isForbidden = (text: string) => text.includes("forbidden");
