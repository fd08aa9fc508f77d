// One cost cap for all models of a draft: each run gets its part of it.
import { type DraftRequest, divideCap } from "./draft.ts";

export function withSharedCap(requests: readonly DraftRequest[], prices: readonly (number | null)[]): DraftRequest[] {
  const cap = requests[0]?.input.max_cost;
  if (requests.length < 2 || typeof cap !== "number") return [...requests];
  const parts = divideCap(
    cap,
    requests.map((_, index) => prices[index] ?? null),
  );
  return requests.map((request, index) => ({ ...request, input: { ...request.input, max_cost: parts[index] } }));
}
