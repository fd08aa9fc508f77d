// The panel of a run: prompt, state, cost and time, then the tabs. The open tab is in the URL.

import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ComponentType, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { runLayersQuery, runProvenanceQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { CODE_LANGUAGES, type CodeLanguage, sampleOf } from "../forms/code-samples.ts";
import { ANY_MODEL, OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { findPrompt } from "../parts/run-prompt.ts";
import { RunState } from "../parts/run-state.tsx";
import { Segments } from "../parts/segments.tsx";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { text } from "../text/text.ts";
import codeTabStyles from "./code-tab.module.css";
import { OutputProvenance } from "./output-provenance.tsx";
import provenanceTabStyles from "./provenance-tab.module.css";
import styles from "./run-panel.module.css";
import { TimelineTab } from "./timeline-tab.tsx";
import { TreeTab } from "./tree-tab.tsx";

const TABS = {
  timeline: TimelineTab,
  tree: TreeTab,
  layers: LayersTab,
  provenance: ProvenanceTab,
  inputs: InputsTab,
  code: CodeTab,
};
type TabName = keyof typeof TABS;
const TAB_ENTRIES = Object.entries(TABS) as [TabName, ComponentType<{ run: Run }>][];

export function RunPanel({ run }: { run: Run }) {
  const { tab = "timeline" } = useSearch({ from: "/shell/runs/$runId" });
  const navigate = useNavigate();
  const choose = (name: TabName) =>
    void navigate({ to: "/runs/$runId", params: { runId: run.run_id }, search: { tab: name }, replace: true });
  const tabKeys = Object.fromEntries(TAB_ENTRIES.map(([name], index) => [String(index + 1), () => choose(name)]));
  const openParent = () => {
    if (!run.parent_run_id) return false;
    void navigate({ to: "/runs/$runId", params: { runId: run.parent_run_id } });
  };
  useShortcuts({ ...tabKeys, p: openParent });
  return (
    <aside className={styles.panel}>
      <RunFacts run={run} />
      <Tabs className={styles.tabs ?? ""} selectedKey={tab} onSelectionChange={(key) => choose(key as TabName)}>
        <TabList className={styles.tabList ?? ""} aria-label={text.run.title}>
          {TAB_ENTRIES.map(([name]) => (
            <Tab key={name} id={name} className={styles.tab ?? ""}>
              {text.run.tabs[name]}
            </Tab>
          ))}
        </TabList>
        {TAB_ENTRIES.map(([name, Content]) => (
          <TabPanel key={name} id={name} className={styles.pane ?? ""}>
            <Content run={run} />
          </TabPanel>
        ))}
      </Tabs>
    </aside>
  );
}

/** The request of a run as code to copy. */
function CodeTab({ run }: { run: Run }) {
  const [language, setLanguage] = useState<CodeLanguage>("typescript");
  const form = findFormOfRun(OPERATION_FORMS, run);
  if (!form || !run.given) return <p>{text.run.inputs.none}</p>;
  const sample = sampleOf(language, { form, input: run.given, origin: location.origin });
  return (
    <>
      <div className={codeTabStyles.head}>
        <Segments
          label={text.run.tabs.code}
          isSmall
          options={CODE_LANGUAGES.map((id) => ({ id, label: text.run.code[id] }))}
          value={language}
          onChange={(id) => setLanguage(CODE_LANGUAGES.find((each) => each === id) ?? "typescript")}
        />
        <CopyButton value={sample} label={text.common.copy} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre className={codeTabStyles.code} tabIndex={0}>
        {sample}
      </pre>
      <p className={codeTabStyles.note}>{text.runPage.code.note}</p>
    </>
  );
}

const words = text.runPage.layers;

/** The layers of a run, as an editor would stack them: the top layer first. */
function LayersTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(runLayersQuery(run.run_id));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const layers = [...(data?.data.layers ?? [])].sort((a, b) => b.z_index - a.z_index);
  if (data && layers.length === 0) return <p className={codeTabStyles.none}>{words.none}</p>;
  return (
    <ul>
      {layers.map((layer) => (
        <li key={layer.id} className={codeTabStyles.layer}>
          <span className={codeTabStyles.preview}>
            {layer.image_url && <img src={layer.image_url} alt="" width={60} height={42} />}
          </span>
          <span className={codeTabStyles.name}>
            {layer.name}
            <small>
              {words.kinds[layer.kind] ?? layer.kind}
              {layer.kind === "mask" && ` · ${words.maskHint}`}
            </small>
          </span>
          <span className={codeTabStyles.place}>
            {layer.width} × {layer.height}
            <small>{words.place(layer.x, layer.y)}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}

const provenanceTabWords = text.runPage.provenance;

/** What the outputs of a run say about their origin, verified by the server at this moment. */
function ProvenanceTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(runProvenanceQuery(run));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className={provenanceTabStyles.note}>{provenanceTabWords.reading}</p>;
  if (data.outputs.length === 0) return <p className={provenanceTabStyles.note}>{provenanceTabWords.none}</p>;
  return (
    <ul className={provenanceTabStyles.outputs}>
      {data.outputs.map((output, index) => (
        <li key={output.asset_id}>
          <OutputProvenance output={output} number={data.outputs.length > 1 ? index + 1 : undefined} />
        </li>
      ))}
    </ul>
  );
}

/** The prompt of a run and its four figures. */
function RunFacts({ run }: { run: Run }) {
  const { cost, created_at, finished_at, model, status } = run;
  const hasEndedWithoutCost = !cost && (status === "failed" || status === "canceled");
  return (
    <div className={styles.lead}>
      <p className={styles.prompt}>{findPrompt(run) ?? text.run.noPrompt}</p>
      <dl className={styles.facts}>
        <div>
          <dt>{text.run.state}</dt>
          <dd>
            <RunState status={status} />
          </dd>
        </div>
        <div>
          <dt>{text.run.cost}</dt>
          <dd>{cost ? formatMoney(cost.amount) : hasEndedWithoutCost ? text.run.notCharged : "–"}</dd>
        </div>
        <div>
          <dt>{text.run.time}</dt>
          <dd>{finished_at ? formatDuration(millisecondsBetween(created_at, finished_at)) : "–"}</dd>
        </div>
        <div>
          <dt>{text.run.model}</dt>
          <dd>{model ?? "–"}</dd>
        </div>
      </dl>
    </div>
  );
}

/** The fields that the request set, and the result of runs whose result is no file. */
function InputsTab({ run }: { run: Run }) {
  const fields = run.given ?? run.inputs;
  const isEmpty = Object.keys(fields).length === 0;
  const parameters = inputOfModel(run, fields);
  return (
    <>
      <p className={styles.note}>{isEmpty ? text.run.inputs.none : run.given ? text.run.inputs.given : null}</p>
      <FieldList fields={parameters ? { ...fields, input: undefined } : fields} />
      {parameters && (
        <>
          <h2 className={styles.note}>{text.anyModel.parameters}</h2>
          <FieldList fields={parameters} />
        </>
      )}
      {run.warnings.length > 0 && (
        <>
          <h2 className={styles.note}>{text.runPage.inputs.warnings}</h2>
          <ul className={styles.warnings}>
            {run.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
      {run.result && (
        <>
          <h2 className={styles.note}>{text.run.inputs.result}</h2>
          <FieldList fields={run.result} />
        </>
      )}
    </>
  );
}

/** The input of an imported model; undefined for other runs. */
function inputOfModel({ operation }: Run, { input }: Record<string, unknown>): Record<string, unknown> | undefined {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return operation === ANY_MODEL && isObject ? (input as Record<string, unknown>) : undefined;
}

/** Texts as they are, a list of texts with one in each line, and all else as JSON. */
function asText(value: unknown): string {
  if (typeof value === "string") return value;
  const isTexts = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isTexts ? value.join("\n") : JSON.stringify(value, null, 2);
}

const listSetFields = (fields: Record<string, unknown>) =>
  Object.entries(fields).filter(([, value]) => value !== undefined);

/** Names and values of fields. Values are text, whatever they contain. */
function FieldList({ fields }: { fields: Record<string, unknown> }) {
  return (
    <dl className={styles.fields}>
      {listSetFields(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{asText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
