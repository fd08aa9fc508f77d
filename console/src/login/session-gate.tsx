// Shows the page to signed-in users and the sign-in page to all others. The URL stays, so a user returns to the page
// that the ended session interrupted.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, use, useEffect, useRef, useSyncExternalStore } from "react";
import { sessionQuery } from "../api/queries.ts";
import { onStepUpChange, openStepUp } from "../api/step-up.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { LoginPage } from "./login-page.tsx";
import type { Startup } from "./sign-in-link.ts";

const ENDED = { code: "session_required", requestId: undefined, retryAfterSeconds: undefined };

type SessionGateProps = { startup: Promise<Startup>; children: ReactNode };

export function SessionGate({ startup, children }: SessionGateProps) {
  const { session: started, refusal } = use(startup);
  const queryClient = useQueryClient();
  const { data: session, error, refetch } = useQuery({ ...sessionQuery, ...(started && { initialData: started }) });
  const hadSession = useRef(false);
  useEffect(() => {
    if (session) hadSession.current = true;
    // Nothing that the previous user saw stays in the cache.
    if (session === null) queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  }, [session, queryClient]);

  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (session === undefined) return null;
  if (session !== null) return children;
  return (
    <LoginPage
      refusal={hadSession.current ? ENDED : refusal}
      onSignedIn={(next) => queryClient.setQueryData(sessionQuery.queryKey, next)}
    />
  );
}

const StepUpDialog = lazy(async () => ({ default: (await import("./step-up-dialog.tsx")).StepUpDialog }));

/** Opens the dialog for a new login while a request waits for one. The dialog is loaded when it is first needed. */
export function StepUp() {
  const request = useSyncExternalStore(onStepUpChange, openStepUp);
  return (
    request && (
      <Suspense fallback={null}>
        <StepUpDialog request={request} />
      </Suspense>
    )
  );
}
