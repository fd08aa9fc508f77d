// Compare: two runs on one stage, and only the inputs that differ.
import type { Run } from "@gesso/client";
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
import { countChangedPixels } from "../pixels/changed-pixels.ts";
import { loadPixels } from "../pixels/load-pixels.ts";
import { findMaskReference } from "../pixels/mask-reference.ts";
import { OutsideMask } from "../pixels/outside-mask.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { parseItems } from "./compare-items.ts";
import styles from "./compare-page.module.css";
import { CompareStage, imageOfRun } from "./compare-stage.tsx";
import { InputDifferences } from "./input-differences.tsx";
import { KeepButtons } from "./keep-buttons.tsx";
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

/** The panel of a comparison: what differs, how many pixels changed, and which run to keep. */
function ComparePanel({ first, second }: { first: Run; second: Run }) {
  return (
    <aside className={styles.panel}>
      <div className={styles.scroll}>
        <ChangedPixels first={first} second={second} />
        <InputDifferences first={first} second={second} />
      </div>
      <KeepButtons first={first} second={second} />
    </aside>
  );
}

/** A masked edit and its source are measured outside the mask, in either order. */
function ChangedPixels({ first, second }: { first: Run; second: Run }) {
  const [a, b] = [imageOfRun(first)?.url, imageOfRun(second)?.url];
  if (!a || !b) return null;
  const [edit, original, result] = second.parent_run_id === first.run_id ? [second, a, b] : [first, b, a];
  const isPair = second.parent_run_id === first.run_id || first.parent_run_id === second.run_id;
  const mask = isPair ? findMaskReference(edit) : undefined;
  return (
    <div className={styles.pixels}>
      <h3>{text.compare.pixels}</h3>
      {mask ? <OutsideMask original={original} result={result} mask={mask} /> : <PixelsChanged first={a} second={b} />}
    </div>
  );
}

/** The share of pixels that differ between two images of one size. */
function PixelsChanged({ first, second }: { first: string; second: string }) {
  const { data, error } = useQuery({
    queryKey: ["pixels", "changed", first, second],
    queryFn: () => count(first, second),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <p>{text.pixels.unreadable}</p>;
  if (data === undefined) return <p>{text.pixels.counting}</p>;
  if (data === null) return <p>{text.pixels.otherSize}</p>;
  return <p className="numeric">{text.compare.pixelShare(shareText(data), data.outside.toLocaleString("en"))}</p>;
}

const shareText = ({ outside, outsideTotal }: { outside: number; outsideTotal: number }) =>
  `${((outside / outsideTotal) * 100).toFixed(1)} %`;

async function count(first: string, second: string) {
  const [one, other] = await Promise.all([loadPixels(first), loadPixels(second)]);
  return countChangedPixels(one, other) ?? null;
}
