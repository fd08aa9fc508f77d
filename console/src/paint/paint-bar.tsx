// The bar of the Paint page: back to the run, what to do, and what applies to the mask as a whole.
import { Link, useNavigate } from "@tanstack/react-router";
import { Brush, Crop, Layers, X } from "lucide-react";
import type { ReactNode } from "react";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import { Segments } from "../parts/segments.tsx";
import { PageTitle } from "../shell/page-title.tsx";
import { text } from "../text/text.ts";
import { PAINT_MODES, type PaintMode } from "./paint-modes.ts";
import styles from "./paint-page.module.css";
import type { PaintedImage } from "./painted-image.ts";

const ICONS = { mask: Brush, reframe: Crop, layers: Layers };

type PaintBarProps = { image: PaintedImage; mode: PaintMode; children?: ReactNode };

export function PaintBar({ image, mode, children }: PaintBarProps) {
  const navigate = useNavigate();
  const { runId, outputIndex } = image;
  const choose = (next: string) =>
    void navigate({
      to: "/paint/$runId",
      params: { runId },
      search: {
        mode: PAINT_MODES.find((each) => each === next) ?? "mask",
        ...(outputIndex > 0 && { output: outputIndex }),
      },
      replace: true,
    });
  return (
    <header className={styles.bar}>
      <PageTitle title={text.paint.title} />
      <Link
        to="/runs/$runId"
        params={{ runId }}
        className={buttonClass({ kind: "quiet", isIconOnly: true })}
        aria-label={text.paint.close}
        title={text.paint.close}
      >
        <Icon of={X} />
      </Link>
      <h1>{text.paint.title}</h1>
      <span className={styles.about}>{text.paint.of(runId.slice(-4), image.alt)}</span>
      <Segments
        label={text.paint.mode}
        options={PAINT_MODES.map((id) => ({ id, label: text.paint.modes[id], icon: ICONS[id] }))}
        value={mode}
        onChange={choose}
      />
      <span className={styles.end}>{children}</span>
    </header>
  );
}
