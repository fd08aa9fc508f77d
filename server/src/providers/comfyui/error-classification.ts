// Classifies errors of ComfyUI servers: caused by the request, by the operator's installation, or by the server.
// Callers get our messages; the server's text goes to the log.
import { z } from "zod";
import type { Fault } from "../../faults/faults.ts";
import { contentRefused, inputRejected, jobFailed, modelUnavailable } from "../call-provider.ts";
import type { ExecutionError } from "./jobs.ts";

const Problem = z.object({
  type: z.string(),
  extra_info: z.object({ input_name: z.string().optional(), received_value: z.unknown() }).partial().nullish(),
});
const Refusal = z.object({
  error: z.object({ type: z.string() }),
  node_errors: z
    .record(z.string(), z.object({ class_type: z.string().optional(), errors: z.array(Problem) }))
    .catch({}),
});

/** Inputs with files of the operator. A missing file is not an error of the request. */
const BASE_FILES = /^(unet|clip|vae|ckpt|model|style_model|control_net)_name\d?$/;

/**
 * Errors in the graph itself. Callers only fill its slots, so the graph does not suit the server: a node or an input of
 * another version or of a missing extension. Servers before `missing_node_type` report that as `invalid_prompt`.
 */
const GRAPH_ERRORS = new Set([
  ...["missing_node_type", "invalid_prompt", "prompt_no_outputs"],
  ...["required_input_missing", "bad_linked_input", "return_type_mismatch", "exception_during_inner_validation"],
]);

/** For `POST /prompt`: a rejected graph. */
export function classifyRejection(status: number, body: string): Fault | undefined {
  if (status === 404 || status === 405) return modelUnavailable(new Error("no ComfyUI server at this URL"), status);
  if (status !== 400) return undefined;
  const refusal = Refusal.safeParse(parsed(body)).data;
  if (!refusal) return undefined;
  const cause = body.slice(0, 500);
  if (GRAPH_ERRORS.has(refusal.error.type)) return modelUnavailable(cause);
  const problems = Object.values(refusal.node_errors).flatMap(({ class_type, errors }) =>
    errors.map(({ type, extra_info }) => ({ class_type, type, ...extra_info })),
  );
  if (problems.some(({ type }) => GRAPH_ERRORS.has(type))) return modelUnavailable(cause);
  const unlisted = problems.filter(({ type }) => type === "value_not_in_list");
  if (unlisted.some(({ input_name = "" }) => BASE_FILES.test(input_name))) return modelUnavailable(cause);
  const lora = unlisted.find(({ input_name }) => input_name === "lora_name");
  if (lora) {
    const name = String(lora.received_value ?? "").replace(/\.safetensors$/, "");
    return inputRejected(cause, { reason: "lora_not_found", lora: name });
  }
  if (unlisted.some(({ input_name }) => input_name === "sampler_name" || input_name === "scheduler"))
    return inputRejected(cause, { reason: "scheduler_not_known" });
  if (problems.some(({ class_type }) => class_type === "LoadImage"))
    return inputRejected(cause, { reason: "image_unreadable" });
  return inputRejected(cause);
}

/**
 * For an accepted job that failed. ComfyUI has no moderation; a moderation node of the operator reports a refusal in
 * this way.
 */
export function classifyExecutionError(error: ExecutionError): Fault {
  const { node_type, exception_type, exception_message } = error;
  const cause = `${node_type}: ${exception_type}: ${exception_message}`.slice(0, 500);
  if (/\bnsfw\b|content policy|safety check/i.test(exception_message ?? "")) return contentRefused(cause);
  if (node_type === "LoadImage") return inputRejected(cause, { reason: "image_unreadable" });
  return jobFailed(cause);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
