// Make: the form of an operation at the left, what was made at the right. On phones the results stand above the form.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { memo, useEffect, useState } from "react";
import { catalogueQuery, runQuery, sessionQuery } from "../api/queries.ts";
import fox from "../assets/example-fox.webp";
import lighthouse from "../assets/example-lighthouse.webp";
import pattern from "../assets/example-pattern.webp";
import { drawSeed } from "../forms/draw-seed.ts";
import { findOperationForm, OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import { RequestCode } from "../forms/request-code.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { useStableCallback } from "../parts/use-stable-callback.ts";
import { PageTitle } from "../shell/page-title.tsx";
import { text } from "../text/text.ts";
import { changeOperation, type Draft, withModel } from "./draft.ts";
import { MakeForm } from "./make-form.tsx";
import styles from "./make-page.module.css";
import { recentRunsQuery } from "./recent-runs.ts";
import { ResultGroup } from "./result-group.tsx";
import resultsStyles from "./results.module.css";
import { groupRuns } from "./run-groups.ts";
import { readStoredDraft, storeDraft } from "./stored-draft.ts";

type MakeSearch = { operation?: string; model?: string };

function firstDraft({ operation, model }: MakeSearch, user: string): Draft {
  const stored = readStoredDraft(user);
  const form = findOperationForm(operation ?? stored?.form.name);
  const draft = stored?.form === form ? stored : { form, values: {}, furtherModels: [] };
  return withModel(draft, model);
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
    if (asked && asked !== draft.form.name) {
      change(withModel(changeOperation(draft, findOperationForm(asked)), search.model));
    }
  }, [asked]);
  const takeExample = useStableCallback((prompt: string) => {
    const hasPrompt = draft.form.fields.some(({ name }) => name === "prompt");
    const base = hasPrompt ? draft : changeOperation(draft, findOperationForm(undefined));
    change({ ...base, values: { ...base.values, prompt } });
  });
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

/** What was made, newest first, in groups of runs that were started together. */
const Results = memo(function Results({ onExample }: { onExample(prompt: string): void }) {
  const { data, error, refetch } = useQuery(recentRunsQuery);
  const groups = groupRuns(data?.data ?? []);
  return (
    <section className={resultsStyles.results} aria-label={text.make.results} aria-busy={!data && !error}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data && groups.length === 0 && <FirstSteps onExample={onExample} />}
      {groups.map((group) => (
        <ResultGroup key={group.id} group={group} />
      ))}
    </section>
  );
});

const IMAGES = [lighthouse, fox, pattern];

const EXAMPLE = { prompt: text.make.examples[1] };
const SANDBOX = "sandbox";

/** Make before the first run: examples to start from. */
function FirstSteps({ onExample }: { onExample(prompt: string): void }) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const isSandbox = catalogue?.models.some(({ offers }) => offers.some(({ provider }) => provider === SANDBOX));
  return (
    <div className={styles.first}>
      <div>
        <h2>{text.make.firstTitle}</h2>
        <p className={styles.lede}>{isSandbox ? text.make.firstSandbox : text.make.firstLede}</p>
      </div>
      <div className={styles.examples}>
        {text.make.examples.map((prompt, index) => (
          <button key={prompt} type="button" className={styles.example} onClick={() => onExample(prompt)}>
            <img src={IMAGES[index]} alt="" width={480} height={360} />
            <span>{prompt}</span>
          </button>
        ))}
      </div>
      <div className={styles.code}>
        <RequestCode form={findOperationForm(undefined)} input={EXAMPLE} title={text.make.firstCode} />
        <p className={styles.lede}>{text.make.firstWait}</p>
      </div>
    </div>
  );
}

type Recall = { from?: string; seed?: string };

/** "Edit again": fills the form with exactly what the request of a run set, on request with a new seed. */
function useRecalledRun({ from, seed }: Recall, onRecall: (draft: Draft, runId: string) => void): void {
  const { data: run } = useQuery({ ...runQuery(from ?? ""), enabled: from !== undefined });
  const isAsked = run !== undefined && run.run_id === from;
  // Only the first response fills the form: later ones must not overwrite what the user changed since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const form = isAsked ? findFormOfRun(OPERATION_FORMS, run) : undefined;
    if (!form || !run) return;
    const hasSeed = form.fields.some(({ widget, name }) => widget === "seed" && name === "seed");
    const values = { ...run.given, ...(seed === "new" && hasSeed && { seed: drawSeed() }) };
    onRecall({ form, values, furtherModels: [] }, run.run_id);
  }, [isAsked, from]);
}
