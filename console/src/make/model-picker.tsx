// Chooses a model from a list with what each is good for and what it costs here.
import { useQuery } from "@tanstack/react-query";
import { Check, ChevronsUpDown } from "lucide-react";
import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { catalogueQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { findModelOffer, type ModelOffer } from "../forms/model-offers.ts";
import { MODELS } from "../forms/operation-forms.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./make-form.module.css";

type ModelPickerProps = {
  label: string;
  operation: string;
  value: string | undefined;
  options: readonly string[];
  /** Whether the choice can be left to the operator's preference. */
  isOptional?: boolean;
  onChange(model: string | undefined): void;
};

/** The key of the entry that leaves the choice to the operator's preference. No model has this name. */
const PREFERRED = "";

export function ModelPicker({ label, operation, value, options, isOptional, onChange }: ModelPickerProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const offerOf = (model: string) => catalogue && findModelOffer(catalogue, operation, model || undefined);
  const chosen = value ?? (isOptional ? PREFERRED : undefined);
  const entries = isOptional ? [PREFERRED, ...options] : options;
  return (
    <Select
      aria-label={label}
      className={styles.picker ?? ""}
      value={chosen ?? null}
      onChange={(key) => key !== null && onChange(String(key) || undefined)}
    >
      <Button className={styles.model ?? ""}>
        <SelectValue className={styles.chosen ?? ""}>
          <span className={styles.modelFacts}>
            <span className={styles.modelName}>{nameOf(chosen ?? "")}</span>{" "}
            <span className={styles.modelSays}>{sayModel(chosen ?? "", offerOf(chosen ?? ""))}</span>
          </span>{" "}
          <OfferPrice offer={offerOf(chosen ?? "")} />
        </SelectValue>
        <Icon of={ChevronsUpDown} />
      </Button>
      <Popover className={menuStyles.popover ?? ""}>
        <ListBox className={menuStyles.menu ?? ""}>
          {entries.map((model) => (
            <ListBoxItem key={model} id={model} textValue={nameOf(model)} className={menuStyles.choice ?? ""}>
              <Icon of={Check} />
              <span>
                <span className={menuStyles.name}>{nameOf(model)}</span>
                <span className={menuStyles.says}>{sayModel(model, offerOf(model))}</span>
              </span>
              <OfferPrice offer={offerOf(model)} />
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}

const nameOf = (model: string) => (model === PREFERRED ? text.make.preferredModel : model);

const sayModel = (model: string, offer: ModelOffer | undefined) =>
  [MODELS[model]?.description ?? offer?.displayName, offer?.providers.join(", ")].filter(Boolean).join(" · ");

function OfferPrice({ offer }: { offer: ModelOffer | undefined }) {
  if (!offer) return <span />;
  const { price, per } = offer;
  return (
    <span className={styles.offer}>
      {price === null ? text.make.priceUnknown : price === 0 ? text.make.free : formatMoney(price)}{" "}
      <span>{text.make.perUnit[per] ?? per}</span>
    </span>
  );
}
