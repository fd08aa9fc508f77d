// The actions of a row, behind one button.
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { buttonClass } from "./button-class.ts";
import { Icon } from "./icon.tsx";
import menuStyles from "./menu.module.css";

type RowMenuProps = { label: string; actions: readonly { label: string; run(): void }[] };

export function RowMenu({ label, actions }: RowMenuProps) {
  return (
    <MenuTrigger>
      <Button aria-label={label} className={buttonClass({ kind: "quiet", size: "s", isIconOnly: true })}>
        <Icon of={Ellipsis} size="s" />
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="bottom end">
        <Menu className={menuStyles.menu ?? ""} aria-label={label}>
          {actions.map((action) => (
            <MenuItem key={action.label} className={menuStyles.item ?? ""} onAction={action.run}>
              {action.label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
