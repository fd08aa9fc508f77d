// Operations that create credentials need a login of the last 10 minutes. A refused request waits here until the user
// has signed in again, and is then repeated, so that no page has to know about it.

/** How the current session began, as the refusal says. */
type StepUpRequest = { method: string };

export type OpenStepUp = StepUpRequest & { decide(isSignedIn: boolean): void };
type Pending = OpenStepUp & { decision: Promise<boolean> };

const REFUSED = 403;
const TIMEOUT_MS = 60_000;
let pending: Pending | undefined;
const listeners = new Set<() => void>();

function change(next: Pending | undefined): void {
  pending = next;
  for (const notify of listeners) notify();
}

/** Resolves when the user has signed in again, or has given up. Requests at the same time share one dialog. */
function requestStepUp(request: StepUpRequest): Promise<boolean> {
  if (pending) return pending.decision;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const decide = (isSignedIn: boolean) => {
    change(undefined);
    resolve(isSignedIn);
  };
  change({ ...request, decision: promise, decide });
  return promise;
}

/** The open request for a new login; undefined if there is none. */
export const openStepUp = (): OpenStepUp | undefined => pending;

/** Calls the listener when a request for a new login opens or is decided. Returns a function that ends it. */
export function onStepUpChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** `fetch` for the client: repeats a request that was refused because of an old login, once the user has signed in. */
export const fetchWithStepUp: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, init);
  const refusal = response.status === REFUSED ? await readRefusal(response.clone()) : undefined;
  if (!refusal || !(await requestStepUp(refusal))) return response;
  // The client's own timeout has run out while the user signed in.
  return globalThis.fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
};

async function readRefusal(response: Response): Promise<StepUpRequest | undefined> {
  const body: { code?: string; details?: { method?: string } } = await response.json().catch(() => ({}));
  return body.code === "login_too_old" ? { method: body.details?.method ?? "key" } : undefined;
}
