// The bar of a run: the way back, its ID and the first actions.
import type { Output, Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, ChevronRight, Columns2, Paintbrush } from "lucide-react";
import { buttonClass } from "../parts/button-class.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import styles from "./run-page.module.css";
import { runTypeName } from "./tree-title.ts";

export function RunBar({ run }: { run: Run }) {
  // A failed run has its primary action on the stage.
  const hasFailed = run.status === "failed" || run.status === "canceled";
  const lead = (
    <span className={styles.crumbs}>
      <Link
        to="/gallery"
        className={buttonClass({ kind: "quiet", isIconOnly: true })}
        aria-label={text.run.back}
        title={text.run.back}
      >
        <Icon of={ArrowLeft} />
      </Link>
      <span className={styles.words}>{text.runPage.gallery}</span>
      <span className={styles.words}>
        <Icon of={ChevronRight} size="s" />
      </span>
      <h1 className={styles.title}>{runTypeName(run.run_type)}</h1>
      <span className={styles.words}>
        <span className="mono">{run.run_id.slice(-8)}</span>
        <CopyButton value={run.run_id} label={text.run.copyId} isIconOnly />
      </span>
    </span>
  );
  return (
    <TopBar title={text.run.title} lead={lead}>
      <span className={styles.space} />
      {run.parent_run_id && (
        <Link
          to="/compare"
          search={{ items: `${run.parent_run_id},${run.run_id}` }}
          className={buttonClass({ kind: "quiet" })}
        >
          <Icon of={Columns2} />
          <span className={styles.words}>{text.run.compareParent}</span>
        </Link>
      )}
      {run.outputs.some(canBePainted) && (
        <Link to="/paint/$runId" params={{ runId: run.run_id }} className={buttonClass()}>
          <Icon of={Paintbrush} />
          <span className={styles.words}>{text.run.paint}</span>
        </Link>
      )}
      {run.given && (
        <Link to="/" search={{ from: run.run_id }} className={buttonClass({ kind: hasFailed ? "plain" : "primary" })}>
          {text.run.editAgain}
        </Link>
      )}
    </TopBar>
  );
}

/** An image that the server reads. */
const canBePainted = ({ media_type, width }: Output): boolean => media_type.startsWith("image/") && width !== null;
