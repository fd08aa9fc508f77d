// `gesso webhooks listen`: forwards events as webhooks to a program on this machine, which needs no public URL.
import { hostname } from "node:os";
import { AbortedError, type NewWebhookListener } from "@gesso/client";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  type ConnectionFlags,
  createCliClient,
  resolveConnection,
  type ServerConnection,
  withConnection,
} from "../../connection.ts";
import { EXIT_CODES, runCommand } from "../../exit-codes.ts";
import { forwardEvent } from "./forward.ts";
import { type InterruptionMonitor, monitorInterruptions } from "./interruptions.ts";
import { colorize, formatSeconds, formatSentLine, pluralize, printJson, printLine } from "./output.ts";
import { parseTarget } from "./post-message.ts";

const EVENTS = [
  ...(["run.completed", "run.failed", "run.canceled", "run.processing", "run.progress"] as const),
  ...(["webhook_endpoint.disabled", "credits.low", "budget.warning", "budget.reached", "api_key.revoked"] as const),
];
type EventType = (typeof EVENTS)[number];
const DEFAULT_EVENTS = EVENTS.slice(0, 3);

type Flags = ConnectionFlags & {
  forwardTo: URL;
  events: EventType[];
  secret?: string;
  retry: number;
  json?: boolean;
  printJson?: boolean;
};

const EXAMPLES = `
Examples:
  gesso webhooks listen --forward-to localhost:3000/hook
  gesso webhooks listen --forward-to 3000/hook --events run.failed
  gesso webhooks listen --forward-to 3000/hook --print-json | jq .data.run_id

Messages have the same ID and body as those of a webhook endpoint. They are signed with
the secret shown at the start. To keep the same secret, set --secret or
GESSO_WEBHOOK_SECRET.
Events that occur while this machine sleeps are forwarded when it wakes.
Timeouts, connection errors, 429 and 5xx responses are retried with backoff.`;

export function listenCommand(): Command {
  const events = new Option("--events <types>", "event types, comma-separated");
  const printBodies = new Option("--print-json", "print the body of each message on standard output, one per line");
  const command = new Command("listen")
    .description("Forward events as webhooks to a URL on this machine.")
    .requiredOption("--forward-to <url>", "URL of your receiver, for example localhost:3000/hook", parseTarget)
    .addOption(events.argParser(parseEvents).default(DEFAULT_EVENTS, DEFAULT_EVENTS.join(",")))
    .option("--secret <secret>", "signing secret (default: GESSO_WEBHOOK_SECRET, or a new one)")
    .option("--retry <count>", "number of retries after a failed attempt", parseRetries, 3)
    .option("--json", "print one JSON object per line on standard output: when ready, and for each response")
    .addOption(printBodies.conflicts("json"));
  return withConnection(command)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      const run = (connection: ServerConnection) => listen(flags, connection);
      process.exitCode = await runCommand("gesso webhooks listen", () => resolveConnection(flags), run);
    });
}

async function listen(flags: Flags, connection: ServerConnection): Promise<number> {
  const stopped = onInterrupt();
  const interruptions = monitorInterruptions();
  try {
    const client = createCliClient(connection, fetchWithConnectionWatch(interruptions, stopped));
    const secret = flags.secret ?? process.env.GESSO_WEBHOOK_SECRET;
    const name =
      hostname()
        .replace(/[^\w.-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 64) || "listener";
    const listener = await client.webhooks.listeners.create({ name, ...(secret && { secret }) });
    printReady(flags, connection, listener);
    const options = { client, listenerId: listener.id, target: flags.forwardTo, retries: flags.retry, signal: stopped };
    const count = { delivered: 0, failed: 0 };
    const types = [...flags.events, "webhook.test" as const];
    const stream = client.events.stream({ types, after: listener.after }, { signal: stopped });
    try {
      for await (const event of stream) {
        interruptions.forwardingStarted();
        const isDelivered = await forwardEvent(options, event.id, (message, attempt) =>
          printAttempt(flags, message, attempt),
        );
        interruptions.forwardingEnded(event.timestamp);
        if (isDelivered !== undefined) count[isDelivered ? "delivered" : "failed"]++;
      }
    } catch (thrown) {
      if (!AbortedError.isInstance(thrown)) throw thrown;
    }
    const failed = count.failed > 0 ? `, ${count.failed} failed` : "";
    printLine(`\n  Stopped. ${pluralize(count.delivered, "message")} delivered${failed}.`);
    return EXIT_CODES.ok;
  } finally {
    interruptions.stop();
  }
}

/** The client reconnects by itself; this wrapper observes when the connection is lost and restored. */
const fetchWithConnectionWatch =
  (interruptions: InterruptionMonitor, stopped: AbortSignal): typeof globalThis.fetch =>
  async (input, init) => {
    try {
      const response = await fetch(input, init);
      interruptions.connectionRestored();
      return response;
    } catch (thrown) {
      if (!stopped.aborted) interruptions.connectionLost();
      throw thrown;
    }
  };

function printReady(flags: Flags, { url }: ServerConnection, listener: NewWebhookListener): void {
  const { json, events, forwardTo } = flags;
  if (json) {
    const { id, url: destination, secret } = listener;
    printJson({ kind: "ready", listener_id: id, destination, forward_to: forwardTo.href, events, secret });
    return;
  }
  const secret = listener.secret ?? colorize("dim", "(the one you set)");
  printLine(`
  ${colorize("bold", "gesso webhooks listen")}   ${colorize("dim", `${url}, as ${listener.url}`)}

  Events      ${events.join(", ")}
  Forward to  ${colorize("bold", forwardTo.href)}
  Secret      ${secret}

  Ready. To send a test message, run ${colorize("bold", "gesso webhooks trigger")} in another terminal.
  Press Ctrl-C to stop.
`);
}

type AttemptArguments = Parameters<Parameters<typeof forwardEvent>[2]>;

function printAttempt(
  { json, printJson: hasBodies }: Flags,
  message: AttemptArguments[0],
  { attempt, attemptsHere, result: response, duration_ms, retryInMs }: AttemptArguments[1],
): void {
  const { event_id, type, run_id, delivery_id, body } = message;
  if (json) {
    const { status, error } = "error" in response ? { status: null, ...response } : { ...response, error: null };
    printJson({
      kind: "response",
      at: new Date().toISOString(),
      event_id,
      type,
      run_id,
      delivery_id,
      attempt,
      status,
      error,
      duration_ms,
    });
    return;
  }
  if (hasBodies && attemptsHere === 1) process.stdout.write(`${body}\n`);
  const followUp = retryInMs === undefined ? undefined : `retry in ${formatSeconds(retryInMs)}`;
  printLine(formatSentLine({ type, subject: run_id ?? event_id, response, duration_ms, followUp }));
}

/** Aborts at the first signal, after the message in flight is delivered; a second signal exits at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => (controller.signal.aborted ? process.exit(EXIT_CODES.interrupted) : controller.abort());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
  return controller.signal;
}

function parseEvents(text: string): EventType[] {
  const types = text.split(",").map((type) => type.trim());
  const unknown = types.filter((type) => !EVENTS.includes(type as EventType));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown event type: ${unknown.join(", ")}. Event types: ${EVENTS.join(", ")}.`);
  return types as EventType[];
}

function parseRetries(text: string): number {
  const retries = Number(text);
  if (!Number.isInteger(retries) || retries < 0 || retries > 100)
    throw new InvalidArgumentError("The number of retries must be an integer from 0 to 100.");
  return retries;
}
