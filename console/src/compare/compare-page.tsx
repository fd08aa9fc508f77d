// Compare: two runs on one stage, and only the inputs that differ.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeft, ArrowLeftRight, Columns2 } from "lucide-react";
import { useState } from "react";
import { runQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { useShortcuts } from "../parts/use-shortcuts.ts";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { parseItems } from "./compare-items.ts";
import styles from "./compare-page.module.css";
import { ComparePanel } from "./compare-panel.tsx";
import { CompareStage } from "./compare-stage.tsx";
import { COMPARE_MODES, type CompareMode, modeAfter } from "./modes.ts";

const words = text.compare;

export function ComparePage() {
  const items = parseItems(useSearch({ from: "/shell/compare" }).items);
  const navigate = useNavigate();
  const [mode, setMode] = useState<CompareMode>("slider");
  const first = useQuery({ ...runQuery(items?.[0] ?? ""), enabled: items !== undefined });
  const second = useQuery({ ...runQuery(items?.[1] ?? ""), enabled: items !== undefined });
  const error = first.error ?? second.error;
  const swap = () =>
    items && void navigate({ to: "/compare", search: { items: items.toReversed().join(",") }, replace: true });
  useShortcuts({ m: () => setMode(modeAfter), s: () => void swap() });
  if (!items) return <PickTwo />;
  return (
    <>
      <TopBar title={text.navigation.compare} lead={<CompareCrumbs runId={items[1]} />}>
        <span className={styles.modes}>
          <Segments
            label={words.mode}
            isSmall
            options={COMPARE_MODES.map((id) => ({ id, label: words.modes[id] }))}
            value={mode}
            onChange={(id) => setMode(COMPARE_MODES.find((each) => each === id) ?? "slider")}
          />
        </span>
        <Button kind="quiet" onClick={swap} aria-keyshortcuts="S">
          <Icon of={ArrowLeftRight} />
          {words.swap}
          <kbd className={styles.key}>S</kbd>
        </Button>
      </TopBar>
      {error && (
        <div className={styles.error}>
          <ErrorNotice error={error} />
        </div>
      )}
      {first.data && second.data && (
        <div className={styles.page}>
          <CompareStage first={first.data} second={second.data} mode={mode} />
          <ComparePanel first={first.data} second={second.data} />
        </div>
      )}
    </>
  );
}

function CompareCrumbs({ runId }: { runId: string }) {
  return (
    <span className={styles.crumbs}>
      <Link
        to="/runs/$runId"
        params={{ runId }}
        className={buttonClass({ kind: "quiet", isIconOnly: true })}
        aria-label={words.back}
        title={words.back}
      >
        <Icon of={ArrowLeft} />
      </Link>
      <h1>{text.navigation.compare}</h1>
    </span>
  );
}

function PickTwo() {
  const next = (
    <Link to="/gallery" className={buttonClass({ kind: "primary" })}>
      {words.openGallery}
    </Link>
  );
  return (
    <>
      <TopBar title={text.navigation.compare} />
      <EmptyState icon={Columns2} title={words.pickTwo} action={next}>
        {words.pickTwoHow}
      </EmptyState>
    </>
  );
}
