// The panel of a run: prompt, state, cost and time, then the tabs. The open tab is in the URL.
import type { Run } from "@gesso/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { text } from "../text/text.ts";
import { CodeTab } from "./code-tab.tsx";
import { InputsTab } from "./inputs-tab.tsx";
import { LayersTab } from "./layers-tab.tsx";
import { ProvenanceTab } from "./provenance-tab.tsx";
import { RunFacts } from "./run-facts.tsx";
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
