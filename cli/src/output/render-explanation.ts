// `gesso admin explain`: everything about a run on one screen. The last paragraph says what it waits for, or why it
// ended.
import type { RunExplanation } from "@gesso/client";
import { renderTable } from "./table.ts";
import { formatAmount, paint, toHarmlessText } from "./terminal.ts";

const INDENT = "  ";
const TIME_WIDTH = 9;
const MIN_WIDTH = 40;
/** Longer journals show their end: it says what the run does now. */
const MAX_JOURNAL = 12;

export const renderExplanation = (run: RunExplanation): string[] => [
  ...renderHead(run),
  ...section("Timeline", renderTimeline(run)),
  ...section("Attempts", renderAttempts(run)),
  ...section("Money", renderMoney(run)),
  ...section("Engine", renderEngine(run)),
  ...section("Events", wrap(run.events.map(({ type }) => type).join(", "))),
  ...section("Webhooks", renderDeliveries(run)),
  "",
  ...wrap(run.conclusion),
];

const section = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : ["", paint("bold", title, process.stdout), ...lines.map((line) => INDENT + line)];

function renderHead({ run_id, status, operation, model, provider, open, ...run }: RunExplanation): string[] {
  const parts = [operation, model, provider && `at ${provider}`].filter(Boolean).join(" ");
  const state = open ? `epoch ${open.epoch}, requeued ${open.requeues} times, deadline ${open.deadline_at}` : undefined;
  return [
    `${run_id}  ${paint("bold", status, process.stdout)}  ${toHarmlessText(parts)}`,
    toHarmlessText(`tenant ${run.tenant_id}, user ${run.user_id}, key ${run.key_id ?? "none"}`),
    ...(state ? [state] : []),
  ];
}

function renderTimeline({ timeline }: RunExplanation): string[] {
  const first = Date.parse(timeline[0]?.at ?? "");
  return timeline.map(({ at, what, detail }, index) => {
    const seconds = (Date.parse(at) - first) / 1000;
    const time = index === 0 ? at : `+${seconds.toFixed(2)} s`.padStart(TIME_WIDTH).padEnd(at.length);
    return toHarmlessText(`${time}  ${what}${detail ? `: ${detail}` : ""}`);
  });
}

/** A take-over is not a request: another worker may have saved what the first one left. */
const renderSends = ({ sends, take_overs }: RunExplanation["attempts"][number]) =>
  take_overs === 0 ? sends : `${sends}, taken over ${take_overs === 1 ? "once" : `${take_overs} times`}`;

const renderAttempts = ({ attempts }: RunExplanation): string[] =>
  attempts.length === 0
    ? ["None: nothing was submitted to a provider."]
    : renderTable(
        attempts.map((attempt) => ({
          job: attempt.job,
          try: attempt.try,
          offer: `${attempt.provider} ${attempt.upstream ?? ""}`.trim(),
          state: attempt.state,
          price: attempt.price === null ? "unknown" : formatAmount(attempt.price),
          sent: renderSends(attempt),
          outcome: attempt.error?.code ?? (attempt.ticket ? `ticket ${attempt.ticket.id ?? "stored"}` : ""),
        })),
        ["job", "try", "offer", "state", "price", "sent", "outcome"],
      );

function renderMoney({ money }: RunExplanation): string[] {
  const { reserved, charged, released, wasted } = money;
  const amounts = Object.entries({ reserved, charged, released, wasted });
  const limit = (used: number, most: number | null, name: string) =>
    most === null ? [] : [`${formatAmount(used)} of ${formatAmount(most)} this ${name}`];
  return [
    amounts.map(([name, amount]) => `${name} ${formatAmount(amount)}`).join("   "),
    ...money.budgets.map(({ of, balance, ...used }) =>
      [
        `budget of the ${of}:`,
        ...(balance === null ? [] : [`balance ${formatAmount(balance)}`]),
        ...limit(used.day_used, used.day_limit, "day"),
        ...limit(used.month_used, used.month_limit, "month"),
      ].join("  "),
    ),
  ];
}

function renderEngine({ engine }: RunExplanation): string[] {
  if (!engine.reachable) return ["Restate does not respond."];
  if (engine.invocations.length === 0)
    return ["Restate has no invocation of this run (it keeps ended ones for an hour)."];
  return engine.invocations.flatMap(({ id, epoch, status, retries, last_failure, journal }) => [
    `${id}  epoch ${epoch}  ${status}${retries > 1 ? `  sent to a worker ${retries} times` : ""}`,
    ...(last_failure ? [toHarmlessText(`${INDENT}last error: ${last_failure}`)] : []),
    ...wrap(journal.length === 0 ? "" : `journal: ${describeJournal(journal)}`).map((line) => INDENT + line),
  ]);
}

function describeJournal(journal: RunExplanation["engine"]["invocations"][number]["journal"]): string {
  const entries = journal.map(({ entry }) =>
    toHarmlessText(entry.replace(/^Command: /, "").replace(/^Notification: /, "✓ ")),
  );
  const hidden = entries.length - MAX_JOURNAL;
  return [...(hidden > 0 ? [`… ${hidden} more`] : []), ...entries.slice(-MAX_JOURNAL)].join(", ");
}

const renderDeliveries = ({ deliveries }: RunExplanation): string[] =>
  deliveries.map(({ type, url, status, attempts, last_status, last_error, next_attempt_at }) => {
    const last = last_error ?? (last_status === null ? "" : `HTTP ${last_status}`);
    const next = next_attempt_at ? `, next at ${next_attempt_at}` : "";
    return toHarmlessText(`${type} to ${url}: ${status} after ${attempts} attempts${last && `, ${last}`}${next}`);
  });

/** Sentences, broken between words. */
function wrap(text: string): string[] {
  const width = Math.max(MIN_WIDTH, (process.stdout.columns || 100) - 2 * INDENT.length);
  const lines: string[] = [];
  for (const word of toHarmlessText(text).split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
