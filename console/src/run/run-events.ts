// Reads the log of a run's events. The log of an ended run is complete and never changes. For an open run, reading
// stops when the log is silent, because a stream per open page would use up the browser's connections to the server.
import type { RunEvent } from "@gesso/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

const SILENCE_MS = 1000;

type EventsOfRun = { run_id: string; status: string; finished_at: string | null };

export const runEventsQuery = ({ run_id, status, finished_at }: EventsOfRun) =>
  queryOptions({
    queryKey: ["runs", run_id, "events", status],
    queryFn: ({ signal }) => readRunEvents(run_id, { isOpen: finished_at === null, signal }),
    staleTime: finished_at === null ? 0 : Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });

async function readRunEvents(runId: string, options: { isOpen: boolean; signal: AbortSignal }): Promise<RunEvent[]> {
  const reading = new AbortController();
  const stop = () => reading.abort();
  options.signal.addEventListener("abort", stop);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopAfterSilence = () => {
    clearTimeout(timer);
    if (options.isOpen) timer = setTimeout(stop, SILENCE_MS);
  };
  const events: RunEvent[] = [];
  stopAfterSilence();
  try {
    for await (const event of client.runs.events(runId, {}, { signal: reading.signal })) {
      events.push(event);
      stopAfterSilence();
    }
  } catch (error) {
    if (!reading.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", stop);
  }
  return events;
}
