// Compare: two runs on one stage, and only the inputs that differ.
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Columns2 } from "lucide-react";
import { useState } from "react";
import { runQuery } from "../api/queries.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { parseItems } from "./compare-items.ts";
import styles from "./compare-page.module.css";
import { CompareStage } from "./compare-stage.tsx";
import { InputDifferences } from "./input-differences.tsx";
import { COMPARE_MODES, type CompareMode } from "./modes.ts";

export function ComparePage() {
  const items = parseItems(useSearch({ from: "/shell/compare" }).items);
  const [mode, setMode] = useState<CompareMode>("slider");
  const first = useQuery({ ...runQuery(items?.[0] ?? ""), enabled: items !== undefined });
  const second = useQuery({ ...runQuery(items?.[1] ?? ""), enabled: items !== undefined });
  const error = first.error ?? second.error;
  return (
    <>
      <TopBar title={text.navigation.compare}>
        <Segments
          label={text.compare.mode}
          isSmall
          options={COMPARE_MODES.map((id) => ({ id, label: text.compare.modes[id] }))}
          value={mode}
          onChange={(id) => setMode(COMPARE_MODES.find((each) => each === id) ?? "slider")}
        />
      </TopBar>
      {!items && <EmptyState icon={Columns2} title={text.compare.pickTwo} />}
      {error && <ErrorNotice error={error} />}
      {first.data && second.data && (
        <div className={styles.page}>
          <CompareStage first={first.data} second={second.data} mode={mode} />
          <InputDifferences first={first.data} second={second.data} />
        </div>
      )}
    </>
  );
}
