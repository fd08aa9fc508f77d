// The whole page: cache, session, then the routes.
import { QueryClientProvider } from "@tanstack/react-query";
import { CatchBoundary, RouterProvider } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { createQueryClient } from "../api/query-client.ts";
import { SessionGate, StepUp } from "../login/session-gate.tsx";
import type { Startup } from "../login/sign-in-link.ts";
import { LiveRuns } from "../tray/live-runs.tsx";
import { PageCrash } from "./page-crash.tsx";
import { router } from "./router.tsx";

export function App({ startup }: { startup: Promise<Startup> }) {
  const [queryClient] = useState(() => {
    const created = createQueryClient(() => {
      created.setQueryData(["session"], null);
    });
    return created;
  });
  return (
    <CatchBoundary getResetKey={() => "page"} errorComponent={PageCrash}>
      <QueryClientProvider client={queryClient}>
        <Suspense fallback={null}>
          <SessionGate startup={startup}>
            <LiveRuns />
            <StepUp />
            <RouterProvider router={router} />
          </SessionGate>
        </Suspense>
      </QueryClientProvider>
    </CatchBoundary>
  );
}
