// What the command palette offers: the pages, the operations and the found runs.

import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { identityQuery } from "../api/queries.ts";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findPrompt } from "../parts/run-prompt.ts";
import { CREATE, isOperator, MANAGE, OPERATE } from "../shell/destinations.ts";
import { text } from "../text/text.ts";
import type { PaletteSection } from "./palette-sections.ts";

export function usePaletteSections(runs: readonly Run[], onClose: () => void): PaletteSection[] {
  const navigate = useNavigate();
  const { data: identity } = useQuery(identityQuery);
  const pages = [...CREATE, ...MANAGE, ...(isOperator(identity) ? OPERATE : [])];
  const closeAnd = (open: () => void) => () => {
    onClose();
    open();
  };
  return [
    {
      title: text.navigation.searchPages,
      entries: pages.map(({ to, label }) => ({
        ...{ id: to, label, hint: "" },
        open: closeAnd(() => void navigate({ to })),
      })),
    },
    {
      title: text.navigation.searchOperations,
      entries: OPERATION_FORMS.map(({ name, label, title }) => ({
        ...{ id: name, label, hint: title },
        open: closeAnd(() => void navigate({ to: "/", search: { operation: name } })),
      })),
    },
    {
      title: text.navigation.searchRuns,
      entries: runs.map((run) => ({
        id: run.run_id,
        label: findPrompt(run) ?? text.run.noPrompt,
        hint: run.run_id,
        open: closeAnd(() => void navigate({ to: "/runs/$runId", params: { runId: run.run_id } })),
      })),
    },
  ];
}
