// Opens the dialog for a new login while a request waits for one. The dialog is loaded when it is first needed.
import { lazy, Suspense, useSyncExternalStore } from "react";
import { onStepUpChange, openStepUp } from "../api/step-up.ts";

const StepUpDialog = lazy(async () => ({ default: (await import("./step-up-dialog.tsx")).StepUpDialog }));

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
