// Adds a model of a provider. Reasons for a refusal stand at their fields.
import type { ImportedModel, SystemImportModelInput } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { IMPORTED_MODELS_KEY, importedModelQuery, importModel } from "../api/imported-models.ts";
import { ManagementDialog } from "../forms/management-dialog.tsx";
import { text } from "../text/text.ts";

const words = text.anyModel;
/** Too large to type; the command line reads the document from a file. */
const WITHOUT = ["document", "tenant_ids"];

type AddModelDialogProps = { onAdded(model: ImportedModel): void; onClose(): void };

export function AddModelDialog({ onAdded, onClose }: AddModelDialogProps) {
  const queryClient = useQueryClient();
  return (
    <ManagementDialog
      operation="system.importModel"
      title={words.addTitle}
      action={words.addAction}
      without={WITHOUT}
      isUnfolded
      send={async (values) => importModel(values as SystemImportModelInput)}
      onSent={(model) => {
        queryClient.setQueryData(importedModelQuery(model.name).queryKey, model);
        void queryClient.invalidateQueries({ queryKey: IMPORTED_MODELS_KEY });
        onAdded(model);
      }}
      onClose={onClose}
    >
      <p>{words.addHint}</p>
    </ManagementDialog>
  );
}
