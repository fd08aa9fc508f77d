// The gallery: everything that was made, newest first, in rows that stay where they are.
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowUp, Images } from "lucide-react";
import { useRef } from "react";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { FilterButtons } from "../run-search/filter-buttons.tsx";
import { isSearching, type ListSearch } from "../run-search/list-search.ts";
import { SearchField } from "../run-search/search-field.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import { GalleryScroller } from "./gallery-scroller.tsx";
import { Months } from "./months.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useGallery } from "./use-gallery.ts";
import { ROW_HEIGHTS, useRowHeight } from "./use-layout.ts";

export function GalleryPage() {
  const { at, ...search } = useSearch({ from: "/shell/gallery" });
  const navigate = useNavigate({ from: "/gallery" });
  const scroller = useRef<HTMLDivElement>(null);
  const [rowHeight, setRowHeight] = useRowHeight();
  const gallery = useGallery({ scroller, search, at, rowHeight });
  const { rows, newCount, error, isEmpty, selection, deletion } = gallery;
  const change = (next: ListSearch) => void navigate({ search: next, replace: true });
  return (
    <>
      <TopBar title={text.gallery.title}>
        <SearchField
          search={search}
          onChange={change}
          onRunId={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
        />
        <FilterButtons search={search} onChange={change} />
        <RowHeight value={rowHeight} onChange={setRowHeight} />
      </TopBar>
      <div className={styles.wrap}>
        {error && (
          <div className={styles.notice}>
            <ErrorNotice error={error} onRetry={gallery.onRetry} />
          </div>
        )}
        {isEmpty && <EmptyGallery search={search} onClear={() => change({})} />}
        {newCount > 0 && (
          <button type="button" className={styles.newRuns} onClick={gallery.onShowNew}>
            <Icon of={ArrowUp} size="s" />
            {text.gallery.newRuns(newCount)}
          </button>
        )}
        <GalleryScroller scroller={scroller} rows={rows} {...gallery.scrolling} />
        <Months {...gallery.monthSlider} />
        {selection.runs.length > 0 && <SelectionBar runs={selection.runs} actions={selection.actions} />}
        {deletion && (
          <ConfirmDialog
            title={text.gallery.deleteTitle(deletion.runs.length)}
            keep={text.common.cancel}
            action={text.gallery.delete}
            isSending={deletion.isSending}
            error={deletion.error}
            onConfirm={deletion.onConfirm}
            onClose={deletion.onClose}
          >
            {text.gallery.deleteWords}
          </ConfirmDialog>
        )}
      </div>
    </>
  );
}

function EmptyGallery({ search, onClear }: { search: ListSearch; onClear(): void }) {
  if (isSearching(search)) {
    return (
      <EmptyState
        icon={Images}
        title={text.gallery.noMatchTitle}
        action={<Button onClick={onClear}>{text.gallery.clear}</Button>}
      >
        {text.gallery.noMatch}
      </EmptyState>
    );
  }
  const first = (
    <Link to="/" className={buttonClass({ kind: "primary" })}>
      {text.gallery.emptyNext}
    </Link>
  );
  return (
    <EmptyState icon={Images} title={text.gallery.emptyTitle} action={first}>
      {text.gallery.empty}
    </EmptyState>
  );
}

/** How high the rows of the gallery are. */
function RowHeight({ value, onChange }: { value: number; onChange(height: number): void }) {
  return (
    <input
      type="range"
      className={styles.rowHeight}
      aria-label={text.gallery.rowHeight}
      min={ROW_HEIGHTS.least}
      max={ROW_HEIGHTS.most}
      step={20}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    />
  );
}
