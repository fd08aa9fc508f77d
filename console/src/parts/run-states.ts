// The states of a run that the page knows.
const RUN_STATES = ["queued", "processing", "completed", "failed", "canceled", "unknown"] as const;
export type RunStateName = (typeof RUN_STATES)[number];

/** A newer server can have more states; they are shown as unknown. */
export const runStateName = (status: string): RunStateName => RUN_STATES.find((each) => each === status) ?? "unknown";
