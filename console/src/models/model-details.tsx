// The offers of a model: where it runs, what it costs, its limits, its state, and what happens to each parameter.
import type { CatalogueOffer } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import table from "../parts/data-table.module.css";
import { Icon } from "../parts/icon.tsx";
import { formatPrice, formatUnit, taskLabel } from "../parts/offer-words.ts";
import { text } from "../text/text.ts";
import { type CatalogueModel, describeTrouble } from "./catalogue-facts.ts";
import { describeOfferLimits } from "./describe-limits.ts";
import styles from "./models-page.module.css";
import { listParameters } from "./offer-parameters.ts";
import { ParameterChips } from "./parameter-chips.tsx";

type ModelDetailsProps = { model: CatalogueModel; now: number };

export function ModelDetails({ model, now }: ModelDetailsProps) {
  const { upstream, limits, state, parameters, columns } = text.models;
  const isGenerator = model.offers.some(({ task }) => task === "image.generate");
  return (
    <div className={styles.details}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">{upstream}</th>
            <th scope="col" className={styles.priceColumn}>
              {columns.price}
            </th>
            <th scope="col" className={classNames(table.first, styles.limitsColumn)}>
              {limits}
            </th>
            <th scope="col" className={classNames(table.second, styles.parametersColumn)}>
              {parameters}
            </th>
            <th scope="col" className={styles.stateColumn}>
              {state}
            </th>
          </tr>
        </thead>
        <tbody>
          {model.offers.map((offer) => (
            <OfferRow
              key={`${offer.task} ${offer.provider} ${offer.upstream}`}
              model={model.model}
              offer={offer}
              now={now}
            />
          ))}
        </tbody>
      </table>
      {isGenerator && (
        <Link to="/" search={{ operation: "images.generate", model: model.model }} className={buttonClass()}>
          {text.models.tryIt(model.model)}
        </Link>
      )}
    </div>
  );
}

type OfferRowProps = { model: string; offer: CatalogueOffer; now: number };

function OfferRow({ model, offer, now }: OfferRowProps) {
  const limits = describeOfferLimits(offer.limits);
  const trouble = describeTrouble(offer, now);
  const facts = [taskLabel(offer.task), offer.preferred && text.models.first];
  const group = offer.equivalence && text.models.group(offer.equivalence);
  return (
    <tr>
      <td>
        <span className={table.strong}>{offer.provider}</span> <span className="mono">{offer.upstream}</span>
        <span className={table.sub}>{[...facts, group].filter(Boolean).join(" · ")}</span>
      </td>
      <td>
        {formatPrice(offer)}
        <span className={table.sub}>{formatUnit(offer)}</span>
      </td>
      <td className={table.first}>
        {limits.join(", ") || <span className={table.quiet}>{text.models.noLimits}</span>}
      </td>
      <td className={table.second}>
        <ParameterChips parameters={listParameters(model, offer)} />
      </td>
      <td>
        <span className={trouble ? styles.troubled : styles.fine}>
          <Icon of={trouble ? TriangleAlert : CircleCheck} size="s" />
          {trouble ?? text.models.inUse}
        </span>
      </td>
    </tr>
  );
}
