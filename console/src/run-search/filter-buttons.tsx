// Filters with a button of their own beside the search: the type of a run and its star.
import { ChevronDown, Image, Star } from "lucide-react";
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./filter-buttons.module.css";
import { type ListSearch, withoutToken } from "./list-search.ts";

type FilterButtonsProps = { search: ListSearch; onChange(search: ListSearch): void };

export function FilterButtons({ search, onChange }: FilterButtonsProps) {
  const { starred, ...others } = search;
  return (
    <div className={styles.filters}>
      <MenuTrigger>
        <AriaButton className={buttonClass({ kind: "quiet" })}>
          <Icon of={Image} />
          {text.search.types[search.type ?? ""] ?? text.search.type}
          <Icon of={ChevronDown} size="s" />
        </AriaButton>
        <Popover className={menuStyles.popover ?? ""} placement="bottom end">
          <Menu className={menuStyles.menu ?? ""} aria-label={text.search.type}>
            <MenuItem className={menuStyles.item ?? ""} onAction={() => onChange(withoutToken(search, "type"))}>
              {text.search.anyType}
            </MenuItem>
            {Object.entries(text.search.types).map(([type, label]) => (
              <MenuItem key={type} className={menuStyles.item ?? ""} onAction={() => onChange({ ...search, type })}>
                {label}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <Button
        kind="quiet"
        aria-pressed={starred ?? false}
        onClick={() => onChange(starred ? others : { ...others, starred: true })}
      >
        <Icon of={Star} />
        {text.search.starred}
      </Button>
    </div>
  );
}
