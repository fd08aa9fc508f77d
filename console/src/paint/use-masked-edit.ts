// Sends the mask and then the edit. A mask that was sent is not sent again while it stays the same, and a mask whose
// upload failed stays as it is.
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client } from "../api/client.ts";
import type { FormValues } from "../forms/form-values.ts";
import { useStartRuns } from "../make/use-start-runs.ts";
import type { MaskDocument } from "./mask-document.ts";
import { formOfMaskEdit, type MaskEdit, sourceValues } from "./mask-edits.ts";
import { encodeMaskPng } from "./mask-png.ts";
import type { PaintedImage } from "./painted-image.ts";

export type StartedEdit = { runId: string; maskRunId: string };
export type EditPhase = "uploading" | "starting";

export function useMaskedEdit({ image, document }: { image: PaintedImage; document: MaskDocument }) {
  const [phase, setPhase] = useState<EditPhase>("uploading");
  const [started, setStarted] = useState<StartedEdit>();
  const uploaded = useRef<{ revision: number; runId: string }>(undefined);
  const start = useStartRuns();

  const uploadMask = async (): Promise<string> => {
    const { revision } = document.state();
    if (uploaded.current?.revision === revision) return uploaded.current.runId;
    const file = new File([await encodeMaskPng(document.mask)], "mask.png", { type: "image/png" });
    const { data } = await client.images.uploadMask({ file });
    uploaded.current = { revision, runId: data.run_id };
    return data.run_id;
  };

  const mutation = useMutation({
    mutationFn: async ({ edit, values }: { edit: MaskEdit; values: FormValues }): Promise<StartedEdit> => {
      setPhase("uploading");
      const maskRunId = await uploadMask();
      setPhase("starting");
      const form = formOfMaskEdit(edit);
      const input = { ...values, ...sourceValues(form, edit.sourceField, image), [edit.maskField]: maskRunId };
      const [accepted] = await start.mutateAsync([{ operation: edit.operation, model: undefined, input }]);
      return { runId: accepted!.runId, maskRunId };
    },
    onSuccess: setStarted,
  });
  return { send: mutation.mutate, isSending: mutation.isPending, error: mutation.error, phase, started };
}
