// Make: the form of an operation at the left, what was made at the right. On phones the results stand above the form.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { findOperationForm } from "../forms/operation-forms.ts";
import { PageTitle } from "../shell/page-title.tsx";
import { text } from "../text/text.ts";
import { changeOperation, type Draft } from "./draft.ts";
import { MakeForm } from "./make-form.tsx";
import styles from "./make-page.module.css";
import { Results } from "./results.tsx";
import { useRecalledRun } from "./use-recalled-run.ts";

export function MakePage() {
  const { operation, model, from } = useSearch({ from: "/shell/" });
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(() => {
    const form = findOperationForm(operation);
    const field = form.fields.find(({ isModel }) => isModel);
    return { form, values: field && model ? { [field.name]: model } : {}, furtherModels: [] };
  });
  // A form that was filled from a run starts anew: some widgets hold half-typed text of their own.
  const [recalled, setRecalled] = useState("");
  useRecalledRun(from, (next, runId) => {
    setDraft(next);
    setRecalled(runId);
  });
  const choose = (name: string) => {
    setDraft(changeOperation(draft, findOperationForm(name)));
    void navigate({ to: "/", search: { operation: name }, replace: true });
  };
  const describe = (prompt: string) => setDraft({ ...draft, values: { ...draft.values, prompt } });
  return (
    <div className={styles.make}>
      <PageTitle title={text.make.title} />
      <MakeForm key={recalled} draft={draft} onChange={setDraft} onChooseOperation={choose} />
      <Results onExample={describe} />
    </div>
  );
}
