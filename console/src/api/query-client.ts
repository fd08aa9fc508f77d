// The cache of what the server returned. A response that says the session has ended clears it and shows the sign-in
// page.
import { GessoError } from "@gesso/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";

const STALE_MS = 30_000;
const SESSION_ENDED = "session_required";

const isSessionEnd = (error: unknown): boolean =>
  GessoError.isInstance(error) && error.status === 401 && error.code === SESSION_ENDED;

export function createQueryClient(onSessionEnd: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (isSessionEnd(error)) onSessionEnd();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    // The client of the API retries by itself, with the waits that the server asks for.
    defaultOptions: { queries: { retry: false, staleTime: STALE_MS, refetchOnWindowFocus: false } },
  });
}
