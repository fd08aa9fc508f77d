// Words of the table of runs.
export const runsText = {
  all: "All",
  empty: "No runs yet",
  emptyWords: "Every image, video and edit that you start appears here with its state and cost.",
  emptyNext: "Make an image",
  noMatchTitle: "No run matches",
  noMatch: "No run has all of these words and filters. New runs are found by their words within seconds.",
  created: "Created",
  provider: "Provider",
  loading: "Loading older runs",
  end: "This is the first run.",
  cancelQueued: "Cancel all queued",
  cancelTitle: "Cancel all queued runs that match?",
  cancelWords: "Runs that have not started are canceled and not charged. Runs in progress continue.",
  cancelKeep: "Keep them",
  canceled: (count: number) => `${count} queued ${count === 1 ? "run" : "runs"} canceled. Nothing was charged.`,
};
