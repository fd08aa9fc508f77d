// The layers of a run at their places, as an editor would stack them. A mask among them can become the mask here.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { runLayersQuery } from "../api/queries.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { loadMaskValues } from "../pixels/load-pixels.ts";
import { text } from "../text/text.ts";
import { LayerRow, type RunLayer } from "./layer-row.tsx";
import { combineMasks, wholeOf } from "./mask.ts";
import type { MaskDocument } from "./mask-document.ts";
import { PaintBar } from "./paint-bar.tsx";
import styles from "./paint-page.module.css";
import type { PaintedImage } from "./painted-image.ts";
import panelStyles from "./panel.module.css";
import stageStyles from "./stage.module.css";
import { StatusBar } from "./status-bar.tsx";
import { useStagePointers } from "./use-stage-pointers.ts";
import { useStageView } from "./use-stage-view.ts";

type LayersModeProps = { image: PaintedImage; document: MaskDocument };

export function LayersMode({ image, document }: LayersModeProps) {
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(runLayersQuery(image.runId));
  const [hiddenIds, setHiddenIds] = useState<readonly string[]>([]);
  const layers = [...(data?.data.layers ?? [])].sort((a, b) => b.z_index - a.z_index);
  const isShown = ({ id, visible }: RunLayer) => visible !== hiddenIds.includes(id);
  const toggle = (id: string) =>
    setHiddenIds(hiddenIds.includes(id) ? hiddenIds.filter((each) => each !== id) : [...hiddenIds, id]);
  const takeAsMask = async ({ image_url }: RunLayer) => {
    if (!image_url) return;
    const values = await loadMaskValues(image_url, document.mask);
    document.change((mask) => {
      combineMasks(mask, values, "replace");
      return wholeOf(mask);
    });
    await navigate({ to: "/paint/$runId", params: { runId: image.runId }, search: { mode: "mask" }, replace: true });
  };
  return (
    <>
      <PaintBar image={image} mode="layers" />
      <LayersStage image={image} layers={layers.filter(isShown).toReversed()} />
      <aside className={panelStyles.panel} aria-label={text.paint.layers.title}>
        <div className={panelStyles.sections}>
          <section className={panelStyles.section}>
            <h2>{text.paint.layers.title}</h2>
            {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
            {data && layers.length === 0 && <p className={panelStyles.hint}>{text.paint.layers.empty}</p>}
            <ul>
              {layers.map((layer) => (
                <LayerRow
                  key={layer.id}
                  layer={layer}
                  isShown={isShown(layer)}
                  onToggle={() => toggle(layer.id)}
                  onTakeAsMask={() => void takeAsMask(layer)}
                />
              ))}
            </ul>
          </section>
        </div>
      </aside>
    </>
  );
}

/** Bottom layer first, as they are drawn. */
function LayersStage({ image, layers }: { image: PaintedImage; layers: readonly RunLayer[] }) {
  const stage = useStageView(image);
  const { stageRef, view } = stage;
  const nothing = () => {};
  useStagePointers(stage, {
    startStroke: nothing,
    continueStroke: nothing,
    endStroke: nothing,
    cancelStroke: nothing,
    moveBy: stage.moveBy,
    pinch: stage.pinch,
    isMoving: () => true,
    hover: nothing,
  });
  const variables = cssVariables({ "--x": `${view.x}px`, "--y": `${view.y}px`, "--zoom": String(view.zoom) });
  return (
    <>
      <div className={styles.wideDesk}>
        <section ref={stageRef} className={stageStyles.stage} aria-label={text.paint.stage(image.alt)}>
          <figure ref={variables} className={stageStyles.picture}>
            {layers.map((layer) => (
              <PlacedLayer key={layer.id} layer={layer} />
            ))}
          </figure>
        </section>
      </div>
      <StatusBar stage={stage} size={image} />
    </>
  );
}

function PlacedLayer({ layer }: { layer: RunLayer }) {
  if (!layer.image_url) return null;
  const place = cssVariables({
    "--left": `${layer.x}px`,
    "--top": `${layer.y}px`,
    "--layer-width": `${layer.width}px`,
    "--layer-height": `${layer.height}px`,
    "--opacity": String(layer.opacity),
  });
  return <img ref={place} className={stageStyles.placed} src={layer.image_url} alt={layer.name} draggable={false} />;
}
