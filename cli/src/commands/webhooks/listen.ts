// `gesso webhooks listen`: events reach a program on this machine as webhooks would, without an address on the internet.
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
import { colorize, formatSeconds, formatSentLine, pluralize, print, printLine } from "./output.ts";
import { parseTarget } from "./post-message.ts";

const EVENTS = [
  ...(["run.completed", "run.failed", "run.canceled", "run.processing", "run.progress"] as const),
  ...(["webhook_endpoint.disabled", "credits.low", "api_key.revoked"] as const),
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

Messages are signed with the secret that is shown at the start; give your own with
--secret or GESSO_WEBHOOK_SECRET, and it stays the same. They have the same id and body
as a webhook's. Events that occur while this machine sleeps are forwarded when it wakes.
Timeouts, connection errors, 429 and 5xx responses are retried with backoff.`;

export function listenCommand(): Command {
  const events = new Option("--events <types>", "event types, comma-separated");
  const print = new Option("--print-json", "print the body of each message on standard output, a line each");
  const command = new Command("listen")
    .description("Forward events as webhooks to a URL on this machine.")
    .requiredOption("--forward-to <address>", "where to, such as localhost:3000/hook", parseTarget)
    .addOption(events.argParser(parseEvents).default(DEFAULT_EVENTS, DEFAULT_EVENTS.join(",")))
    .option("--secret <secret>", "sign with this secret of yours (default: GESSO_WEBHOOK_SECRET, or a new one)")
    .option("--retry <times>", "number of retries after a failed attempt", parseTimes, 3)
    .option("--json", "print one JSON object a line on standard output: when ready, and for each answer")
    .addOption(print.conflicts("json"));
  return withConnection(command)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      const work = (place: ServerConnection) => listen(flags, place);
      process.exitCode = await runCommand("gesso webhooks listen", () => resolveConnection(flags), work);
    });
}

async function listen(flags: Flags, place: ServerConnection): Promise<number> {
  const stopped = onInterrupt();
  const pauses = monitorInterruptions();
  try {
    const client = createCliClient(place, fetchWithConnectionWatch(pauses, stopped));
    const secret = flags.secret ?? process.env.GESSO_WEBHOOK_SECRET;
    const name =
      hostname()
        .replace(/[^\w.-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 64) || "listener";
    const listener = await client.webhooks.listeners.create({ name, ...(secret && { secret }) });
    printReady(flags, place, listener);
    const passing = { client, listenerId: listener.id, target: flags.forwardTo, retries: flags.retry, signal: stopped };
    const count = { arrived: 0, failed: 0 };
    const types = [...flags.events, "webhook.test" as const];
    const stream = client.events.stream({ types, after: listener.after }, { signal: stopped });
    try {
      for await (const event of stream) {
        pauses.forwardingStarted();
        const hasArrived = await forwardEvent(passing, event.id, (message, attempt) =>
          printAttempt(flags, message, attempt),
        );
        pauses.forwardingEnded(event.timestamp);
        if (hasArrived !== undefined) count[hasArrived ? "arrived" : "failed"]++;
      }
    } catch (thrown) {
      if (!AbortedError.isInstance(thrown)) throw thrown;
    }
    const failed = count.failed > 0 ? `, ${count.failed} failed` : "";
    printLine(`\n  Stopped. ${pluralize(count.arrived, "message")} arrived${failed}.`);
    return EXIT_CODES.ok;
  } finally {
    pauses.stop();
  }
}

/** The client goes on by itself when Gesso is away; that it was away is seen here. */
const fetchWithConnectionWatch =
  (pauses: InterruptionMonitor, stopped: AbortSignal): typeof globalThis.fetch =>
  async (input, init) => {
    try {
      const response = await fetch(input, init);
      pauses.connectionRestored();
      return response;
    } catch (thrown) {
      if (!stopped.aborted) pauses.connectionLost();
      throw thrown;
    }
  };

function printReady(flags: Flags, { url }: ServerConnection, listener: NewWebhookListener): void {
  const { json, events, forwardTo } = flags;
  if (json) {
    const { id, url: destination, secret } = listener;
    print({ kind: "ready", listener_id: id, destination, forward_to: forwardTo.href, events, secret });
    return;
  }
  const secret = listener.secret ?? colorize("dim", "the secret you set");
  printLine(`
  ${colorize("bold", "gesso webhooks listen")}   ${colorize("dim", `${url}, as ${listener.url}`)}

  Events   ${events.join(", ")}
  To       ${colorize("bold", forwardTo.href)}
  Secret   ${secret}

  Ready. Send yourself one from another terminal with ${colorize("bold", "gesso webhooks trigger")}. Ctrl-C stops.
`);
}

type AttemptArguments = Parameters<Parameters<typeof forwardEvent>[2]>;

function printAttempt(
  { json, printJson }: Flags,
  message: AttemptArguments[0],
  { attempt, attemptsHere: tried, result: answer, duration_ms, retryInMs: againMs }: AttemptArguments[1],
): void {
  const { event_id, type, run_id, delivery_id, body } = message;
  if (json) {
    const result = "error" in answer ? { status: null, error: answer.error } : { status: answer.status, error: null };
    print({
      kind: "answer",
      at: new Date().toISOString(),
      event_id,
      type,
      run_id,
      delivery_id,
      attempt,
      ...result,
      duration_ms,
    });
    return;
  }
  if (printJson && tried === 1) process.stdout.write(`${body}\n`);
  const then = againMs === undefined ? undefined : `retry in ${formatSeconds(againMs)}`;
  printLine(formatSentLine({ type, subject: run_id ?? event_id, answer, duration_ms, then }));
}

/** Aborts at the first signal, which lets a message that is on its way arrive; a later one ends this at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => (controller.signal.aborted ? process.exit(EXIT_CODES.interrupted) : controller.abort());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
  return controller.signal;
}

function parseEvents(text: string): EventType[] {
  const types = text.split(",").map((word) => word.trim());
  const unknown = types.filter((type) => !EVENTS.includes(type as EventType));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown event type: ${unknown.join(", ")}. Event types: ${EVENTS.join(", ")}.`);
  return types as EventType[];
}

function parseTimes(text: string): number {
  const times = Number(text);
  if (!Number.isInteger(times) || times < 0 || times > 100)
    throw new InvalidArgumentError("A whole number from 0 to 100.");
  return times;
}
