// The gallery: everything that was made, newest first, in rows that stay where they are.
import { Link } from "@tanstack/react-router";
import { ArrowUp, Images } from "lucide-react";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import { GalleryScroller } from "./gallery-scroller.tsx";
import { useGalleryRuns } from "./use-gallery-runs.ts";

export function GalleryPage() {
  const { runs, newCount, isSuccess, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useGalleryRuns();
  const first = (
    <Link to="/" className={buttonClass({ kind: "primary" })}>
      {text.gallery.emptyNext}
    </Link>
  );
  const showMore = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <TopBar title={text.gallery.title} />
      <div className={styles.wrap}>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {isSuccess && runs.length === 0 && (
          <EmptyState icon={Images} title={text.gallery.emptyTitle} action={first}>
            {text.gallery.empty}
          </EmptyState>
        )}
        {newCount > 0 && (
          <button type="button" className={styles.newRuns} onClick={() => void refetch()}>
            <Icon of={ArrowUp} size="s" />
            {text.gallery.newRuns(newCount)}
          </button>
        )}
        {runs.length > 0 && <GalleryScroller runs={runs} onEnd={showMore} />}
      </div>
    </>
  );
}
