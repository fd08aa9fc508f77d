// Streams of events that callers hold open. Each is told what has been and then what comes, in the order of the log and
// nothing twice. One that does not read what it is sent is cut: it comes back with the id that it has, and misses nothing.
import { z } from "zod";
import { type EventRow, isAfter, type Position } from "../db/events.ts";
import type { House } from "../runs/house.ts";
import { eventFrame, heartbeat, opening } from "./frames.ts";
import { isWanted, pastOf, type Wish, withinLog } from "./past.ts";
import { createTail, type Told, tellAll } from "./tail.ts";

export const StreamsEnv = z.object({
  STREAM_HEARTBEAT_SECONDS: z.coerce
    .number()
    .min(0.1)
    .default(15)
    .describe("How often a stream of events says that it is still there"),
  STREAM_SECONDS: z.coerce
    .number()
    .min(1)
    .default(600)
    .describe("After how long a stream is ended; its reader comes back with its credential, and misses nothing"),
});

/** The line to the reader. */
export type Line = {
  hasRoom(): boolean;
  /** Resolves when there is room again, or the line is gone. */
  drained(): Promise<void>;
  send(bytes: Uint8Array): void;
  end(): void;
  /** The reader is too slow: the line goes, with whatever is still on it. */
  cut(): void;
};

/** Whose stream it is: when their credential ends by itself, and whether it would still be let in as what it was. */
export type Reader = { expires_at: Date | null; isWelcome(): Promise<boolean> };

export type Stream = { start(line: Line): void; leave(): void };
export type Streams = {
  /** Undefined: there is nothing more to tell, now or later. */
  open(wish: Wish & Reader): Promise<Stream | undefined>;
  close(): void;
};

/** What may come while the past is still being told. */
const MOST_PENDING = 2000;
/** A credential that is taken away is remembered for four seconds, and must be refused after five: this is half of the rest. */
const WELCOME_MS = 500;

type Session = {
  line?: Line;
  /** Where the tail goes on from: all before it is told by then. */
  from?: Position;
  /** Everything up to here was told, or is not wanted. */
  last: Position | undefined;
  /** What the reader knows of that. */
  known: Position | undefined;
  /** What comes while the past is still being told. */
  pending: Told[] | undefined;
  endsAt: number;
  isWelcome: Reader["isWelcome"];
};

type Settings = z.output<typeof StreamsEnv>;

export function createStreams(house: Pick<House, "db" | "assetUrl" | "log">, env: Settings): Streams {
  const tail = createTail(house, eventFrame);
  const flowing = new Set<Session>();
  let isClosed = false;
  const timer = setInterval(() => {
    for (const session of flowing) beat(session);
  }, env.STREAM_HEARTBEAT_SECONDS * 1000);
  const watch = setInterval(() => {
    for (const session of flowing) void sendAway(session);
  }, WELCOME_MS);
  for (const each of [timer, watch]) each.unref();

  const start = (session: Session, wish: Wish, past: AsyncIterable<EventRow[]>) => {
    const line = session.line!;
    flowing.add(session);
    line.send(opening);
    const isThere = () => flowing.has(session);
    catchUp(session, wish, { past, isThere })
      .then(() => isClosed && line.end())
      .catch((thrown) => {
        house.log.warn({ err: thrown }, "a stream of events broke");
        line.cut();
      });
  };

  return {
    async open(asked) {
      const { isWelcome } = asked;
      const ends = { endsAt: endOfStream(asked, env), isWelcome };
      const session: Session = { last: undefined, known: undefined, pending: [], ...ends };
      const wish: Wish = { ...asked };
      const run_id = asked.run?.run_id ?? asked.filter.run_id;
      const joined = await tail.join({ tenant_id: asked.tenant_id, run_id, hear: (told) => hear(session, wish, told) });
      const leave = () => {
        flowing.delete(session);
        joined.leave();
      };
      try {
        // Only now: what is read of the past reaches at least to where the tail goes on from.
        wish.after = await withinLog(asked, joined.from);
        Object.assign(session, { last: wish.after, known: wish.after });
        const past = await pastOf(wish, joined.from);
        if (!past) leave();
        const begin = (line: Line) => start(Object.assign(session, { line, from: joined.from }), wish, past!);
        return past && { leave, start: begin };
      } catch (thrown) {
        leave();
        throw thrown;
      }
    },
    close() {
      isClosed = true;
      for (const each of [timer, watch]) clearInterval(each);
      for (const session of flowing) session.line?.end();
    },
  };
}

/** Tells the past as fast as it is taken, then what came meanwhile; from then on the session is live. */
async function catchUp(
  session: Session,
  wish: Wish,
  { past, isThere }: { past: AsyncIterable<EventRow[]>; isThere(): boolean },
): Promise<void> {
  const line = session.line!;
  const tellEach = async (all: Told[]) => {
    for (const told of all) {
      if (!line.hasRoom()) await line.drained();
      if (isThere()) tell(session, wish, told);
    }
  };
  for await (const rows of past) {
    await tellEach(await tellAll(wish.house, rows, eventFrame));
    if (!isThere()) return;
  }
  if (!session.last || isAfter(session.from!, session.last)) session.last = session.from;
  while (session.pending && session.pending.length > 0) {
    if (session.pending.length > MOST_PENDING) line.cut();
    if (!isThere()) return;
    await tellEach(session.pending.splice(0));
  }
  session.pending = undefined;
}

/** Not all at once: those that came together would also come back together. */
const endOfStream = ({ expires_at }: Reader, { STREAM_SECONDS }: Settings) =>
  Math.min(Date.now() + STREAM_SECONDS * 1000 * (0.9 + Math.random() * 0.1), expires_at?.getTime() ?? Infinity);

function hear(session: Session, wish: Wish, told: Told): void {
  const { pending, line } = session;
  if (pending) {
    if (pending.length <= MOST_PENDING) pending.push(told);
  } else if (line?.hasRoom()) tell(session, wish, told);
  else line?.cut();
}

function tell(session: Session, { filter, run }: Wish, told: Told): void {
  const { row, bytes } = told;
  const isKnown = session.last && row.xact > 0 && !isAfter(row, session.last);
  if (isKnown) return;
  session.last = row;
  if (isWanted(filter, told)) {
    session.line?.send(bytes);
    session.known = row;
  }
  if (run && row.terminal) session.line?.end();
}

function endNow({ line }: Session): void {
  if (line?.hasRoom()) line.end();
  else line?.cut();
}

/** Who is not welcome any more learns why at the door. A database that cannot be asked sends nobody away. */
async function sendAway(session: Session): Promise<void> {
  if (!(await session.isWelcome().catch(() => true))) endNow(session);
}

function beat(session: Session): void {
  const { line, last, known, pending } = session;
  if (Date.now() >= session.endsAt) endNow(session);
  else if (line?.hasRoom() && !pending) {
    line.send(heartbeat(last === known ? undefined : last));
    session.known = last;
  }
}
