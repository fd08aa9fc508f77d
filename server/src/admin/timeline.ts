// The timeline of a run: what happened to it, in order, from the rows of the run, its attempts, files and deliveries.

import type { TimelineEntry } from "../contract/schemas/admin.ts";
import type { RunFacts } from "../db/admin/explain-run.ts";

type Moment = { at: Date; what: string; detail?: string | undefined };
type Attempt = RunFacts["attempts"][number];

export function buildTimeline(facts: RunFacts): TimelineEntry[] {
  const moments = [
    ...momentsOfRun(facts),
    ...facts.attempts.flatMap(momentsOfAttempt),
    ...resultFiles(facts).map(({ created_at, role, media_type, size_bytes }) => ({
      at: created_at,
      what: "file stored",
      detail: `${role}, ${media_type}, ${size_bytes} bytes`,
    })),
    ...momentsOfEnd(facts),
    ...facts.deliveries.flatMap(momentsOfDelivery),
    ...facts.operatorEntries.map(({ at, user_id, action }) => ({ at, what: action, detail: `by ${user_id}` })),
  ];
  // Sorting is stable: entries of one statement have the same time and stay in the order above.
  return moments
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, what, detail = null }) => ({ at: at.toISOString(), what, detail }));
}

/** Thumbnails say nothing about the run. */
const resultFiles = ({ files }: RunFacts) => files.filter(({ role }) => role !== "thumbnail");

function momentsOfRun({ run, open }: RunFacts): Moment[] {
  const { created_at, started_at, cancel_requested_at } = run;
  return [
    { at: created_at, what: "accepted", detail: run.operation },
    ...(open?.dispatched_at ? [{ at: open.dispatched_at, what: "dispatched", detail: `epoch ${open.epoch}` }] : []),
    ...(started_at ? [{ at: started_at, what: "begun" }] : []),
    ...(cancel_requested_at ? [{ at: cancel_requested_at, what: "cancel requested" }] : []),
  ];
}

const momentsOfEnd = ({ run: { finished_at, status, error } }: RunFacts): Moment[] =>
  finished_at ? [{ at: finished_at, what: status, detail: error?.code }] : [];

function momentsOfAttempt(attempt: Attempt): Moment[] {
  const { created_at, submitted_at, unknown_since, finished_at, provider, upstream, ticket } = attempt;
  const name = `try ${attempt.attempt_number} of job ${attempt.request_index}`;
  const offer = upstream === null ? provider : `${provider} ${upstream}`;
  return [
    { at: created_at, what: "submitting", detail: `${name} to ${offer}` },
    ...(submitted_at
      ? [{ at: submitted_at, what: "accepted by provider", detail: `${name}${describeTicket(ticket)}` }]
      : []),
    ...(unknown_since ? [{ at: unknown_since, what: "outcome unknown", detail: name }] : []),
    ...(finished_at
      ? [
          {
            at: finished_at,
            what: `attempt ${attempt.state}`,
            detail: [name, attempt.fault?.code].filter(Boolean).join(", "),
          },
        ]
      : []),
  ];
}

const describeTicket = (ticket: Attempt["ticket"]) => (ticket ? `, ticket ${ticket.id ?? JSON.stringify(ticket)}` : "");

function momentsOfDelivery({ created_at, last_at, attempts, ...delivery }: RunFacts["deliveries"][number]): Moment[] {
  const result =
    delivery.last_error ?? (delivery.last_status === null ? "no response" : `HTTP ${delivery.last_status}`);
  return [
    { at: created_at, what: "webhook queued", detail: delivery.type },
    ...(last_at
      ? [{ at: last_at, what: "webhook sent", detail: `${delivery.type}, attempt ${attempts}: ${result}` }]
      : []),
  ];
}
