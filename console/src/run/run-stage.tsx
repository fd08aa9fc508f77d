// The stage: the image on a neutral ground, facts about its file, and the runs before and after this one.

import type { Output, Run, RunNode } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  ChevronRight,
  CircleSlash,
  CircleX,
  File,
  ImageOff,
  LoaderCircle,
  type LucideIcon,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { runTreeQuery } from "../api/queries.ts";
import { extensionOf, sizeAttributes } from "../format/file-facts.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { findPrompt } from "../parts/run-prompt.ts";
import { text } from "../text/text.ts";
import { FailedRun } from "./failed-run.tsx";
import { FileFacts } from "./file-facts.tsx";
import { lineageOf } from "./lineage-of.ts";
import styles from "./run-stage.module.css";
import { imageOfNode } from "./tree-title.ts";
import { UnfinishedRun } from "./unfinished-run.tsx";

export function RunStage({ run }: { run: Run }) {
  const outputs = run.outputs.filter(({ role }) => role === "result");
  const [chosen, setChosen] = useState(0);
  const output = outputs[chosen] ?? outputs[0];
  const prompt = findPrompt(run) ?? text.run.noPrompt;
  return (
    <section className={styles.stage} aria-label={prompt}>
      <div className={styles.hold}>
        {output ? (
          <StageMedia output={output} alt={prompt} />
        ) : run.status === "failed" || run.status === "canceled" ? (
          <FailedRun run={run} />
        ) : (
          <UnfinishedRun run={run} />
        )}
      </div>
      {outputs.length > 1 && <OutputStrip outputs={outputs} chosen={chosen} onChoose={setChosen} />}
      {output && <FileFacts output={output} run={run} />}
      <Lineage run={run} />
    </section>
  );
}

/**
 * The parent, this run, and the runs that were derived from it or from its parent. The strip has its height before
 * the tree is read, so that the image above never moves.
 */
function Lineage({ run }: { run: Run }) {
  const { data: tree } = useQuery(runTreeQuery(run.run_id));
  const { parent, children, siblings, self } = lineageOf(tree?.nodes ?? [], run.run_id);
  return (
    <nav className={styles.lineage} aria-label={text.run.tabs.tree}>
      {parent && <LineageLink node={parent} label={text.run.parent} />}
      {parent && <Icon of={ChevronRight} size="s" />}
      {self && <LineageLink node={self} label={text.run.thisRun} isCurrent />}
      {children.length > 0 && <Icon of={ChevronRight} size="s" />}
      {children.map((node) => (
        <LineageLink key={node.run_id} node={node} label={node.prompt ?? text.run.children} />
      ))}
      {siblings.length > 0 && <span className={styles.label}>{text.run.siblings}</span>}
      {siblings.map((node) => (
        <LineageLink key={node.run_id} node={node} label={node.prompt ?? text.run.siblings} />
      ))}
    </nav>
  );
}

type LineageLinkProps = { node: RunNode; label: string; isCurrent?: boolean };

/** A relative of a run, as a small image. */
function LineageLink({ node, label, isCurrent = false }: LineageLinkProps) {
  const image = imageOfNode(node);
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: node.run_id }}
      className={classNames(styles.thumbnail, node.deleted && styles.gone, isCurrent && styles.current)}
      {...(isCurrent && { "aria-current": "true" as const })}
      aria-label={label}
      title={label}
    >
      {image ? <img src={image} alt="" width={84} height={56} /> : <Icon of={iconOf(node)} />}
    </Link>
  );
}

const ICONS: Record<string, LucideIcon> = { failed: CircleX, canceled: CircleSlash, completed: ImageOff };

const iconOf = ({ deleted, status }: RunNode) => (deleted ? Trash2 : (ICONS[status] ?? LoaderCircle));

type OutputStripProps = { outputs: readonly Output[]; chosen: number; onChoose(index: number): void };

/** All files of a run with several, to choose the one on the stage. */
function OutputStrip({ outputs, chosen, onChoose }: OutputStripProps) {
  return (
    <div className={styles.strip}>
      {outputs.map((output, index) => (
        <button
          key={output.asset_id}
          type="button"
          className={styles.thumbnail}
          aria-pressed={index === chosen}
          aria-label={text.run.output(index + 1, outputs.length)}
          onClick={() => onChoose(index)}
        >
          {output.media_type.startsWith("image/") && <img src={output.url} alt="" width={84} height={56} />}
        </button>
      ))}
    </div>
  );
}

type StageMediaProps = { output: Output; alt: string };

/** The file on the stage: an image, a video or sound with controls, or the name of another format. */
function StageMedia({ output, alt }: StageMediaProps) {
  switch (output.media_type.split("/")[0]) {
    case "image":
      return <img className={styles.media} src={output.url} alt={alt} {...sizeAttributes(output)} />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: made videos have no captions; the prompt is the label
      return <video className={styles.media} src={output.url} controls loop aria-label={alt} />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: made sound has no captions; the prompt is the label
      return <audio className={styles.sound} src={output.url} controls aria-label={alt} />;
    default:
      return (
        <p className={styles.file}>
          <Icon of={File} size="l" />
          {text.run.noPreview(extensionOf(output).toUpperCase())}
        </p>
      );
  }
}
