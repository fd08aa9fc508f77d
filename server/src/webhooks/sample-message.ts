// Sample messages for tests: a `webhook.test` message, or an event of a run that does not exist, marked with `test:
// true`.
import type { JsonObject } from "../contract/schemas/run.ts";
import { renderMessageBody } from "./message-body.ts";

const SAMPLE_RUN_ID = "00000000-0000-7000-8000-000000000000";
const SAMPLE_ERROR = {
  message: "The provider failed to process the job. Create the run again.",
  code: "provider_error",
  details: { retryable: true },
};

type SampleOptions = { webhook_id: string; now: Date; metadata?: JsonObject | undefined };

export function renderSampleBody(type: string, { now, ...options }: SampleOptions): string {
  const timestamp = now.toISOString();
  return renderMessageBody({ type, timestamp, data: buildSampleData(type, { ...options, timestamp }) });
}

const SAMPLE_BUDGET = {
  ...{ budget_id: "00000000-0000-8000-8000-000000000002", of: { end_user: "visitor-1" } },
  ...{ period: "day", limit: 0.5, currency: "USD" },
};
const SAMPLE_KEY_ID = "00000000-0000-7000-8000-000000000001";

function buildSampleData(
  type: string,
  { webhook_id, metadata, timestamp }: Omit<SampleOptions, "now"> & { timestamp: string },
): JsonObject {
  const tenantEvents: Record<string, JsonObject> = {
    "webhook_endpoint.disabled": { webhook_id, reason: "failing", disabled_at: timestamp },
    "credits.low": { balance: 4.5, low_at: 5 },
    "budget.warning": { ...SAMPLE_BUDGET, used: 0.4, share: 0.8 },
    "budget.reached": { ...SAMPLE_BUDGET, used: 0.5, share: 1 },
    "api_key.revoked": { key_id: SAMPLE_KEY_ID, name: "a test", hint: "4f2a", user_id: "ada", revoked_at: timestamp },
  };
  if (tenantEvents[type]) return { ...tenantEvents[type], test: true };
  if (!type.startsWith("run.")) return { webhook_id };
  const status = { "run.progress": "processing" }[type] ?? type.slice("run.".length);
  return {
    ...{
      run_id: SAMPLE_RUN_ID,
      status,
      live_status: status,
      run_type: "generation",
      parent_run_id: null,
      end_user: null,
      customer: null,
    },
    progress: status === "completed" ? 1 : 0.5,
    ...{
      image_url: null,
      video_url: null,
      outputs: [],
      error: status === "failed" ? SAMPLE_ERROR : null,
      warnings: [],
    },
    metadata: { ...metadata, test: true },
    ...{ created_at: timestamp, updated_at: timestamp, expires_at: null },
  };
}
