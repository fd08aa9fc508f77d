// The imported model that a request names, with its fields. Its schema is read once for each name.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { importedModelQuery } from "../api/imported-models.ts";
import type { FormField } from "../forms/operation-forms.ts";
import { describeModelFields } from "./model-fields.ts";

const NO_FIELDS: readonly FormField[] = [];

export function useChosenModel(name: string | undefined) {
  const { data, error } = useQuery({ ...importedModelQuery(name ?? ""), enabled: name !== undefined });
  const model = name === undefined ? undefined : data;
  const fields = useMemo(() => (model ? describeModelFields(model) : NO_FIELDS), [model]);
  return { model, fields, error: name === undefined ? null : error };
}
