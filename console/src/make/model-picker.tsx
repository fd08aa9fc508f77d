// Chooses a model from a list with what each is good for.
import { Check, ChevronsUpDown } from "lucide-react";
import { Button, ListBox, ListBoxItem, Popover, Select } from "react-aria-components";
import { MODELS } from "../forms/operation-forms.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import styles from "./make-form.module.css";

type ModelPickerProps = {
  label: string;
  value: string | undefined;
  options: readonly string[];
  onChange(model: string): void;
};

export function ModelPicker({ label, value, options, onChange }: ModelPickerProps) {
  return (
    <Select
      aria-label={label}
      className={styles.picker ?? ""}
      value={value ?? null}
      onChange={(key) => key !== null && onChange(String(key))}
    >
      <Button className={styles.model ?? ""}>
        <span className={styles.modelFacts}>
          <span className={styles.modelName}>{value}</span>
          <span className={styles.modelSays}>{MODELS[value ?? ""]?.description}</span>
        </span>
        <Icon of={ChevronsUpDown} />
      </Button>
      <Popover className={menuStyles.popover ?? ""}>
        <ListBox className={menuStyles.menu ?? ""}>
          {options.map((model) => (
            <ListBoxItem key={model} id={model} textValue={model} className={menuStyles.choice ?? ""}>
              <Icon of={Check} />
              <span>
                <span className={menuStyles.name}>{model}</span>
                <span className={menuStyles.says}>{MODELS[model]?.description}</span>
              </span>
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}
