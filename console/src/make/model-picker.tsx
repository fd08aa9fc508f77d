// Chooses a model from a list with what each is good for and what it costs here.
import { useQuery } from "@tanstack/react-query";
import { Check, ChevronsUpDown } from "lucide-react";
import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { catalogueQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { MODELS } from "../forms/operation-forms.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./make-form.module.css";
import { findModelOffer, type ModelOffer } from "./model-offers.ts";

type ModelPickerProps = {
  label: string;
  operation: string;
  value: string | undefined;
  options: readonly string[];
  onChange(model: string): void;
};

export function ModelPicker({ label, operation, value = "", options, onChange }: ModelPickerProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const offerOf = (model: string) => catalogue && findModelOffer(catalogue, operation, model);
  return (
    <Select
      aria-label={label}
      className={styles.picker ?? ""}
      value={value || null}
      onChange={(key) => key !== null && onChange(String(key))}
    >
      <Button className={styles.model ?? ""}>
        <SelectValue className={styles.chosen ?? ""}>
          <span className={styles.modelFacts}>
            <span className={styles.modelName}>{value}</span>{" "}
            <span className={styles.modelSays}>{sayModel(value, offerOf(value))}</span>
          </span>{" "}
          <OfferPrice offer={offerOf(value)} />
        </SelectValue>
        <Icon of={ChevronsUpDown} />
      </Button>
      <Popover className={menuStyles.popover ?? ""}>
        <ListBox className={menuStyles.menu ?? ""}>
          {options.map((model) => (
            <ListBoxItem key={model} id={model} textValue={model} className={menuStyles.choice ?? ""}>
              <Icon of={Check} />
              <span>
                <span className={menuStyles.name}>{model}</span>
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

const sayModel = (model: string, offer: ModelOffer | undefined) =>
  [MODELS[model]?.description, offer?.providers.join(", ")].filter(Boolean).join(" · ");

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
