// `gesso webhooks trigger`: sends a test message and reports whether it was delivered.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, WebhookDelivery, WebhookDeliveryDetails } from "@gesso/client";
import { Argument, Command, InvalidArgumentError } from "commander";
import {
  type ConnectionFlags,
  createCliClient,
  resolveConnection,
  type ServerConnection,
  withConnection,
} from "../../connection.ts";
import { EXIT_CODES, runCommand } from "../../exit-codes.ts";
import { colorize, formatSentLine, printJson, printLine } from "./output.ts";

const TYPES = [
  ...(["webhook.test", "run.completed", "run.failed", "run.canceled", "run.processing", "run.progress"] as const),
  ...(["webhook_endpoint.disabled", "credits.low", "budget.warning", "budget.reached", "api_key.revoked"] as const),
];
type Type = (typeof TYPES)[number];
type Flags = ConnectionFlags & { endpoint?: string; metadata?: Record<string, unknown>; json?: boolean };

const POLL_MS = 200;
const LISTENERS_MS = 5_000;
/** A receiver has 15 s to respond; the rest is for queueing. */
const ENDPOINT_MS = 25_000;
const NEWEST = 100;

const EXAMPLES = `
Examples:
  gesso webhooks trigger                            send to every running gesso webhooks listen
  gesso webhooks trigger run.completed --metadata '{"order": "4711"}'
  gesso webhooks trigger run.failed --endpoint ID   send to one webhook endpoint

Test messages have "test": true in their metadata and refer to a sample run.
Exit code 1: the message was not delivered.`;

export function triggerCommand(): Command {
  const command = new Command("trigger")
    .description("Send a test message and report whether it was delivered.")
    .addArgument(new Argument("[type]", "event type of the message").choices(TYPES).default("webhook.test"))
    .option("--endpoint <id>", "ID of a webhook endpoint (default: every running gesso webhooks listen)")
    .option("--metadata <json>", "metadata of the sample run", parseObject)
    .option("--json", "print one JSON object on standard output");
  return withConnection(command)
    .addHelpText("after", EXAMPLES)
    .action(async (type: Type, flags: Flags) => {
      const run = (connection: ServerConnection) => trigger(createCliClient(connection), type, flags);
      process.exitCode = await runCommand("gesso webhooks trigger", () => resolveConnection(flags), run);
    });
}

async function trigger(client: Client, type: Type, flags: Flags): Promise<number> {
  const sent = flags.endpoint ? await toEndpoint(client, type, flags) : await toListeners(client, type, flags);
  const isDelivered = sent.deliveries.length > 0 && sent.deliveries.every(({ status }) => status === "delivered");
  if (flags.json) printJson({ event_id: sent.event_id, type, delivered: isDelivered, deliveries: sent.deliveries });
  else await printResult(client, sent);
  return isDelivered ? EXIT_CODES.ok : EXIT_CODES.failed;
}

type TriggerResult = { event_id: string; isForListeners: boolean; deliveries: WebhookDeliveryDetails[] };

async function toEndpoint(client: Client, type: Type, { endpoint = "", metadata }: Flags): Promise<TriggerResult> {
  const delivery = await client.webhooks.test(endpoint, { type, ...(metadata && { metadata }) });
  const ended = async () => {
    const details = await client.webhooks.deliveries.get(delivery.id);
    return details.attempts === 0 && details.status === "pending" ? undefined : details;
  };
  const details = (await pollUntilDefined(ended, ENDPOINT_MS)) ?? (await client.webhooks.deliveries.get(delivery.id));
  return { event_id: delivery.event_id, isForListeners: false, deliveries: [details] };
}

/** Every running listener reports to the delivery log. Without an entry after a few seconds there is no listener. */
async function toListeners(client: Client, type: Type, { metadata }: Flags): Promise<TriggerResult> {
  const { event_id } = await client.webhooks.trigger({ type, ...(metadata && { metadata }) });
  const findOwn = async () => {
    const { data } = await client.webhooks.deliveries.list({ limit: NEWEST });
    const own = data.filter((delivery) => delivery.event_id === event_id);
    return own.length > 0 ? own : undefined;
  };
  const found: WebhookDelivery[] = (await pollUntilDefined(findOwn, LISTENERS_MS)) ?? [];
  const deliveries = await Promise.all(found.map(({ id }) => client.webhooks.deliveries.get(id)));
  return { event_id, isForListeners: true, deliveries };
}

async function pollUntilDefined<T>(find: () => Promise<T | undefined>, timeoutMs: number): Promise<T | undefined> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(POLL_MS)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  return undefined;
}

async function printResult(client: Client, { deliveries, event_id, isForListeners }: TriggerResult): Promise<void> {
  for (const { type, url, log, status } of deliveries) {
    const last = log.at(-1);
    if (!last) printLine(`  ${url}: ${status}, no attempt yet`);
    else printLine(formatSentLine({ type, subject: url, response: toPostResult(last), duration_ms: last.duration_ms }));
  }
  if (deliveries.length > 0) return printLine(colorize("dim", `  ${event_id}`));
  if (!isForListeners) return;
  const { data: webhooks } = await client.webhooks.list({ limit: 10 });
  printLine(
    `  No listener is running. Start ${colorize("bold", "gesso webhooks listen --forward-to localhost:3000/hook")} first.`,
  );
  if (webhooks.length === 0) return;
  printLine("  Or send the message to a webhook endpoint with --endpoint:");
  for (const { id, url, enabled } of webhooks)
    printLine(`    ${id}  ${url}${enabled ? "" : colorize("dim", "  (disabled)")}`);
}

type Log = WebhookDeliveryDetails["log"][number];

const toPostResult = ({ status, error, response }: Log) =>
  status === null ? { error: error ?? "", message: `no response (${error})` } : { status, text: response ?? "" };

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError(`The metadata must be a JSON object, for example '{"order": "4711"}'.`);
}
