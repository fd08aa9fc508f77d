// A model: its newest image, what it does, its parameters, providers and price. It opens to show every offer.
import type { Run } from "@gesso/client";
import { Box, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { formatPrice, formatUnit, taskLabel } from "../parts/offer-words.ts";
import { tileUrlOf } from "../parts/thumbnails.ts";
import { text } from "../text/text.ts";
import {
  type CatalogueModel,
  formatSpeed,
  leadingOffer,
  listTasks,
  listTroubles,
  providersInOrder,
} from "./catalogue-facts.ts";
import { ModelDetails } from "./model-details.tsx";
import styles from "./models-page.module.css";
import { listParameters } from "./offer-parameters.ts";
import { ParameterChips } from "./parameter-chips.tsx";

const SHOWN_PARAMETERS = 8;

type CatalogueRowProps = { model: CatalogueModel; says: string; preview: Run | undefined; now: number };

export function CatalogueRow({ model, says, preview, now }: CatalogueRowProps) {
  const [isOpen, setIsOpen] = useState(false);
  const offer = leadingOffer(model);
  const unit = formatUnit(offer);
  const image = preview?.outputs[0] && tileUrlOf(preview.outputs[0]);
  return (
    <li>
      <details className={styles.model} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary className={styles.row}>
          <span className={styles.preview}>
            {image ? <img src={image} alt="" loading="lazy" /> : <Icon of={Box} size="l" />}
          </span>
          <span>
            <span className={styles.title}>
              <span className={styles.name}>{model.model}</span>
              {listTroubles(model, now).map((trouble) => (
                <span key={trouble} className={styles.trouble}>
                  <Icon of={TriangleAlert} size="s" />
                  {trouble}
                </span>
              ))}
            </span>
            {says && <span className={styles.says}>{says}</span>}
            <span className={styles.says}>{listTasks(model).map(taskLabel).join(" · ")}</span>
          </span>
          <span className={styles.honours}>
            <ParameterChips parameters={listParameters(model.model, offer)} most={SHOWN_PARAMETERS} />
          </span>
          <span className={styles.providers}>{text.models.then(providersInOrder(model))}</span>
          <span className={styles.right}>
            <span className={offer.price === null ? styles.quiet : styles.strong}>{formatPrice(offer)}</span>
            {unit && <span className={styles.says}>{unit}</span>}
          </span>
          <span className={styles.speed}>{formatSpeed(offer)}</span>
        </summary>
        {isOpen && <ModelDetails model={model} now={now} />}
      </details>
    </li>
  );
}
