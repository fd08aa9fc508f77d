// `gesso webhooks listen`: events reach a program on this machine as webhooks would, without an address on the internet.
import { hostname } from "node:os";
import { AbortedError, type NewWebhookListener } from "@gesso/client";
import { Command, InvalidArgumentError, Option } from "commander";
import { type ConnectionFlags, clientOf, type Place, placeOf, withConnection } from "../../connection.ts";
import { EXIT, ending } from "../../exit.ts";
import { passOn } from "./forward.ts";
import { type Pauses, watchPauses } from "./pauses.ts";
import { parseTarget } from "./post.ts";
import { counted, paint, print, say, seconds, sentLine } from "./screen.ts";

const EVENTS = [
  ...(["run.completed", "run.failed", "run.canceled", "run.processing", "run.progress"] as const),
  ...(["webhook_endpoint.disabled", "credits.low", "api_key.revoked"] as const),
];
type EventType = (typeof EVENTS)[number];
const USUAL = EVENTS.slice(0, 3);

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
as a webhook's. What happens while this machine sleeps is passed on when it wakes.
A receiver that does not answer, or answers 429 or 5xx, is asked again after a while.`;

export function listenCommand(): Command {
  const events = new Option("--events <types>", "which, with commas");
  const print = new Option("--print-json", "print the body of each message on standard output, a line each");
  const command = new Command("listen")
    .description("Pass events on to a program on this machine, as webhooks.")
    .requiredOption("--forward-to <address>", "where to, such as localhost:3000/hook", parseTarget)
    .addOption(events.argParser(parseEvents).default(USUAL, USUAL.join(",")))
    .option("--secret <secret>", "sign with this secret of yours (default: GESSO_WEBHOOK_SECRET, or a new one)")
    .option("--retry <times>", "how often a receiver that does not answer is asked again", parseTimes, 3)
    .option("--json", "print one JSON object a line on standard output: when ready, and for each answer")
    .addOption(print.conflicts("json"));
  return withConnection(command)
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      const work = (place: Place) => listen(flags, place);
      process.exitCode = await ending("gesso webhooks listen", () => placeOf(flags), work);
    });
}

async function listen(flags: Flags, place: Place): Promise<number> {
  const stopped = onInterrupt();
  const pauses = watchPauses();
  try {
    const client = clientOf(place, watched(pauses, stopped));
    const secret = flags.secret ?? process.env.GESSO_WEBHOOK_SECRET;
    const name =
      hostname()
        .replace(/[^\w.-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 64) || "listener";
    const listener = await client.webhooks.listeners.create({ name, ...(secret && { secret }) });
    tellReady(flags, place, listener);
    const passing = { client, listenerId: listener.id, target: flags.forwardTo, retries: flags.retry, signal: stopped };
    const count = { arrived: 0, failed: 0 };
    const types = [...flags.events, "webhook.test" as const];
    const stream = client.events.stream({ types, after: listener.after }, { signal: stopped });
    try {
      for await (const event of stream) {
        pauses.begin();
        const hasArrived = await passOn(passing, event.id, (message, attempt) => tellAttempt(flags, message, attempt));
        pauses.end(event.timestamp);
        if (hasArrived !== undefined) count[hasArrived ? "arrived" : "failed"]++;
      }
    } catch (thrown) {
      if (!AbortedError.isInstance(thrown)) throw thrown;
    }
    const failed = count.failed > 0 ? `, ${count.failed} did not` : "";
    say(`\n  Stopped. ${counted(count.arrived, "message")} arrived${failed}.`);
    return EXIT.ok;
  } finally {
    pauses.stop();
  }
}

/** The client goes on by itself when Gesso is away; that it was away is seen here. */
const watched =
  (pauses: Pauses, stopped: AbortSignal): typeof globalThis.fetch =>
  async (input, init) => {
    try {
      const response = await fetch(input, init);
      pauses.back();
      return response;
    } catch (thrown) {
      if (!stopped.aborted) pauses.lost();
      throw thrown;
    }
  };

function tellReady(flags: Flags, { url }: Place, listener: NewWebhookListener): void {
  const { json, events, forwardTo } = flags;
  if (json) {
    const { id, url: destination, secret } = listener;
    print({ kind: "ready", listener_id: id, destination, forward_to: forwardTo.href, events, secret });
    return;
  }
  const secret = listener.secret ?? paint("dim", "the one that you gave");
  say(`
  ${paint("bold", "gesso webhooks listen")}   ${paint("dim", `${url}, as ${listener.url}`)}

  Events   ${events.join(", ")}
  To       ${paint("bold", forwardTo.href)}
  Secret   ${secret}

  Ready. Send yourself one from another terminal with ${paint("bold", "gesso webhooks trigger")}. Ctrl-C stops.
`);
}

type Told = Parameters<Parameters<typeof passOn>[2]>;

function tellAttempt(
  { json, printJson }: Flags,
  message: Told[0],
  { attempt, tried, answer, duration_ms, againMs }: Told[1],
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
  const then = againMs === undefined ? undefined : `again in ${seconds(againMs)}`;
  say(sentLine({ type, subject: run_id ?? event_id, answer, duration_ms, then }));
}

/** Aborts at the first signal, which lets a message that is on its way arrive; a later one ends this at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => (controller.signal.aborted ? process.exit(EXIT.interrupted) : controller.abort());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
  return controller.signal;
}

function parseEvents(text: string): EventType[] {
  const types = text.split(",").map((word) => word.trim());
  const unknown = types.filter((type) => !EVENTS.includes(type as EventType));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`There is no ${unknown.join(", ")}; there are ${EVENTS.join(", ")}.`);
  return types as EventType[];
}

function parseTimes(text: string): number {
  const times = Number(text);
  if (!Number.isInteger(times) || times < 0 || times > 100)
    throw new InvalidArgumentError("A whole number from 0 to 100.");
  return times;
}
