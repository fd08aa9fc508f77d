// Paint: marks a part of an image by brush, numbers or words and edits just that; reframes the image; shows its layers.
// The page has the whole window.
import { NotFoundError } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ImageOff } from "lucide-react";
import { useState } from "react";
import { runQuery } from "../api/queries.ts";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { LayersMode } from "./layers-mode.tsx";
import { createMaskDocument } from "./mask-document.ts";
import { MaskMode } from "./mask-mode.tsx";
import styles from "./paint-page.module.css";
import { findPaintedImage, type PaintedImage } from "./painted-image.ts";
import { ReframeMode } from "./reframe-mode.tsx";

export function PaintPage() {
  const { runId } = useParams({ from: "/paint/$runId" });
  const { output } = useSearch({ from: "/paint/$runId" });
  const { data: run, error, refetch } = useQuery(runQuery(runId));
  if (NotFoundError.isInstance(error)) return <Message title={text.run.notThere} />;
  if (error) {
    return (
      <main className={styles.message}>
        <h1 className="visually-hidden">{text.paint.title}</h1>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </main>
    );
  }
  if (!run) return <main className={styles.paint} aria-busy="true" aria-label={text.paint.loading} />;
  const image = findPaintedImage(run, output);
  if (!image) return <Message title={text.paint.noImage} runId={runId} />;
  return <Workspace key={`${image.runId} ${image.outputIndex}`} image={image} />;
}

/** The mask belongs to the image, so it stays while the modes change. */
function Workspace({ image }: { image: PaintedImage }) {
  const { mode = "mask" } = useSearch({ from: "/paint/$runId" });
  const [mask] = useState(() => createMaskDocument(image));
  return (
    <main className={styles.paint}>
      {mode === "mask" && <MaskMode image={image} document={mask} />}
      {mode === "reframe" && <ReframeMode image={image} />}
      {mode === "layers" && <LayersMode image={image} document={mask} />}
    </main>
  );
}

function Message({ title, runId }: { title: string; runId?: string }) {
  const next = runId ? (
    <Link to="/runs/$runId" params={{ runId }} className={buttonClass()}>
      {text.paint.noImageNext}
    </Link>
  ) : (
    <Link to="/gallery" className={buttonClass()}>
      {text.run.back}
    </Link>
  );
  return (
    <main className={styles.message}>
      <EmptyState icon={ImageOff} title={title} action={next} />
    </main>
  );
}
