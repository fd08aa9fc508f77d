// The live events of all runs, over one stream per browser: the tab that holds a web lock opens the stream and passes
// the events on to the other tabs. When that tab closes, the browser gives the lock to the next one, which continues
// after the last event that it has seen.
import type { Event, RunEvent } from "@gesso/client";

const LOCK = "gesso.events";
const CHANNEL = "gesso.events";
const EVENTS_URL = "/console/api/v1/events";
const REOPEN_MS = 1000;

const RUN_EVENT_TYPES = [
  "run.queued",
  "run.processing",
  "run.progress",
  "run.completed",
  "run.failed",
  "run.canceled",
] as const;

/** What tabs tell each other. `id` is the position in the event log. */
export type LiveMessage = { kind: "event"; id: string; event: RunEvent } | { kind: "connection"; isConnected: boolean };

type Listener = (message: LiveMessage, role: { isLeader: boolean }) => void;
type LiveStreamOptions = { onMessage: Listener; onRefused(): void };

export const isRunEvent = (event: Event): event is RunEvent =>
  (RUN_EVENT_TYPES as readonly string[]).includes(event.type);

export const eventsUrl = (after: string | undefined): string => {
  const query = new URLSearchParams({ types: JSON.stringify(RUN_EVENT_TYPES), ...(after && { after }) });
  return `${EVENTS_URL}?${query}`;
};

/** Follows the live events until the returned function is called. */
export function followLiveEvents({ onMessage, onRefused }: LiveStreamOptions): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel(CHANNEL);
  let last: string | undefined;
  const note = (message: LiveMessage) => {
    if (message.kind === "event") last = message.id;
  };
  channel.onmessage = ({ data }: MessageEvent<LiveMessage>) => {
    note(data);
    onMessage(data, { isLeader: false });
  };
  const publish = (message: LiveMessage) => {
    if (stop.signal.aborted) return;
    note(message);
    channel.postMessage(message);
    onMessage(message, { isLeader: true });
  };
  navigator.locks
    .request(LOCK, { signal: stop.signal }, () => lead({ publish, lastId: () => last, onRefused, signal: stop.signal }))
    // The only failure is that the page stopped waiting for the lock.
    .catch(() => {});
  return () => {
    stop.abort();
    channel.close();
  };
}

type LeadOptions = {
  publish(message: LiveMessage): void;
  lastId(): string | undefined;
  onRefused(): void;
  signal: AbortSignal;
};

/** Holds the stream open until the signal aborts. */
function lead({ publish, lastId, onRefused, signal }: LeadOptions): Promise<void> {
  return new Promise((resolve) => {
    // The page may have stopped following between the request of the lock and its grant.
    if (signal.aborted) return resolve();
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      clearTimeout(timer);
      source?.close();
      source = openStream(eventsUrl(lastId()), publish, () => {
        publish({ kind: "connection", isConnected: false });
        const isRefused = source?.readyState === EventSource.CLOSED;
        // The browser waits longer and longer before it reopens a broken stream; the page does not.
        source?.close();
        if (isRefused) onRefused();
        timer = setTimeout(open, REOPEN_MS);
      });
    };
    // An open connection does not notice that the network is gone; the browser does. It tells when it is back, too.
    const pause = () => {
      clearTimeout(timer);
      source?.close();
      publish({ kind: "connection", isConnected: false });
    };
    addEventListener("offline", pause, { signal });
    addEventListener("online", open, { signal });
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      source?.close();
      resolve();
    });
    open();
  });
}

function openStream(url: string, publish: (message: LiveMessage) => void, onError: () => void): EventSource {
  const source = new EventSource(url);
  source.onopen = () => publish({ kind: "connection", isConnected: true });
  source.onerror = onError;
  for (const type of RUN_EVENT_TYPES) {
    source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
      const event = JSON.parse(data) as Event;
      if (isRunEvent(event)) publish({ kind: "event", id: lastEventId, event });
    });
  }
  return source;
}
