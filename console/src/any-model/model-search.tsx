// The model of a request: a button that shows the chosen one, and a search over all imported models behind it.
import type { ImportedModelSummary } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Check, ChevronsUpDown, Search } from "lucide-react";
import { useDeferredValue, useState } from "react";
import {
  Autocomplete,
  Button,
  Dialog,
  DialogTrigger,
  Input,
  ListBox,
  ListBoxItem,
  Popover,
  TextField,
} from "react-aria-components";
import { importedModelsQuery, type ModelFilter } from "../api/imported-models.ts";
import { formatMoney } from "../format/money.ts";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./any-model.module.css";

const words = text.anyModel;

type ModelFacts = Pick<ImportedModelSummary, "name" | "title" | "media" | "price" | "category">;

type ModelSearchProps = { name: string | undefined; model: ModelFacts | undefined; onChoose(name: string): void };

export function ModelSearch({ name, model, onChoose }: ModelSearchProps) {
  const [isOpen, setIsOpen] = useState(false);
  const choose = (chosen: string) => {
    setIsOpen(false);
    onChoose(chosen);
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setIsOpen}>
      <Button className={styles.model ?? ""}>
        <span className={styles.facts}>
          <span className={styles.name}>
            <span className="visually-hidden">{words.model} </span>
            {name ?? words.choose}
          </span>{" "}
          <span className={styles.says}>{name === undefined ? words.chooseHint : model && sayModel(model)}</span>
        </span>
        {model && <ModelPrice price={model.price} />}
        <Icon of={ChevronsUpDown} />
      </Button>
      <Popover className={styles.popover ?? ""} placement="bottom start">
        <Dialog className={styles.dialog ?? ""} aria-label={words.search}>
          <FoundModels chosen={name} onChoose={choose} onClose={() => setIsOpen(false)} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

type Media = NonNullable<ModelFilter["media"]>;
const KINDS = Object.keys(words.kinds) as Media[];

type FoundModelsProps = { chosen: string | undefined; onChoose(name: string): void; onClose(): void };

function FoundModels({ chosen, onChoose, onClose }: FoundModelsProps) {
  const [typed, setTyped] = useState("");
  const [media, setMedia] = useState<Media>();
  const q = useDeferredValue(typed.trim());
  const { data } = useQuery(importedModelsQuery({ ...(q && { q }), ...(media && { media }) }));
  const models = data?.data ?? [];
  return (
    <Autocomplete inputValue={typed} onInputChange={setTyped}>
      <div className={styles.filters}>
        <TextField className={styles.search ?? ""} aria-label={words.search} autoFocus>
          <Icon of={Search} />
          <Input
            className={styles.searchInput ?? ""}
            placeholder={words.searchPlaceholder}
            // The autocomplete keeps Escape to itself.
            onKeyDown={({ key }) => key === "Escape" && onClose()}
          />
        </TextField>
        <select
          className={fieldStyles.input}
          aria-label={words.resultKind}
          value={media ?? ""}
          onChange={({ target }) => setMedia(KINDS.find((kind) => kind === target.value))}
        >
          <option value="">{words.anyKind}</option>
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {words.kinds[kind]}
            </option>
          ))}
        </select>
      </div>
      <ListBox
        className={styles.found ?? ""}
        aria-label={words.list}
        selectionMode="single"
        selectedKeys={chosen === undefined ? [] : [chosen]}
        onAction={(key) => onChoose(String(key))}
        renderEmptyState={() => data && <p className={styles.none}>{words.noMatch}</p>}
      >
        {models.map((model) => (
          <ListBoxItem key={model.name} id={model.name} textValue={model.name} className={menuStyles.choice ?? ""}>
            <Icon of={Check} />
            <span className={styles.facts}>
              <span className={styles.name}>{model.name}</span>
              <span className={styles.says}>{sayModel(model)}</span>
            </span>
            <ModelPrice price={model.price} />
          </ListBoxItem>
        ))}
      </ListBox>
      {data?.next_cursor && <p className={styles.none}>{words.more(models.length)}</p>}
    </Autocomplete>
  );
}

/** What it is and what it makes. An alias says which model it stands for by its title. */
function sayModel({ title, media, category }: ModelFacts): string {
  const kinds = media.map((kind) => words.kinds[kind] ?? kind).join(", ");
  return [title, kinds || words.noFile, category].filter(Boolean).join(" · ");
}

function ModelPrice({ price }: { price: number | null }) {
  if (price === null) return <span className={styles.price}>{words.priceUnknown}</span>;
  return (
    <span className={styles.price}>
      {price === 0 ? text.make.free : formatMoney(price)} <small>{words.perCall}</small>
    </span>
  );
}
