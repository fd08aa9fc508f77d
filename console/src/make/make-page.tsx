// Make: the form of an operation at the left, what was made at the right. On phones the results stand above the form.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { sessionQuery } from "../api/queries.ts";
import { findOperationForm } from "../forms/operation-forms.ts";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { PageTitle } from "../shell/page-title.tsx";
import { text } from "../text/text.ts";
import { changeOperation, type Draft } from "./draft.ts";
import { MakeForm } from "./make-form.tsx";
import styles from "./make-page.module.css";
import { Results } from "./results.tsx";
import { readStoredDraft, storeDraft } from "./stored-draft.ts";
import { useRecalledRun } from "./use-recalled-run.ts";

type MakeSearch = { operation?: string; model?: string };

function firstDraft({ operation, model }: MakeSearch, user: string): Draft {
  const stored = readStoredDraft(user);
  const form = findOperationForm(operation ?? stored?.form.name);
  const draft = stored?.form === form ? stored : { form, values: {}, furtherModels: [] };
  const field = form.fields.find(({ isModel }) => isModel);
  return field && model ? { ...draft, values: { ...draft.values, [field.name]: model }, furtherModels: [] } : draft;
}

export function MakePage() {
  const search = useSearch({ from: "/shell/" });
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const user = session?.user_id ?? "";
  const [draft, setDraft] = useState<Draft>(() => firstDraft(search, user));
  // A form that was filled from a run starts anew: some widgets hold half-typed text of their own.
  const [recalled, setRecalled] = useState("");
  const change = (next: Draft) => {
    setDraft(next);
    storeDraft(next, user);
  };
  useRecalledRun(search, (next, runId) => {
    change(next);
    setRecalled(`${runId} ${Date.now()}`);
    void navigate({ to: "/", search: { operation: next.form.name }, replace: true });
  });
  // A link to another operation, as the command palette has, changes the form that is open.
  const asked = search.from === undefined ? search.operation : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new link changes the form
  useEffect(() => {
    if (asked && asked !== draft.form.name) change(changeOperation(draft, findOperationForm(asked)));
  }, [asked]);
  const takeExample = useStableCallback((prompt: string) => change({ ...draft, values: { ...draft.values, prompt } }));
  const choose = (name: string) => {
    change(changeOperation(draft, findOperationForm(name)));
    void navigate({ to: "/", search: { operation: name }, replace: true });
  };
  return (
    <div className={styles.make}>
      <PageTitle title={text.make.title} />
      <MakeForm key={recalled} draft={draft} onChange={change} onChooseOperation={choose} />
      <Results onExample={takeExample} />
    </div>
  );
}
