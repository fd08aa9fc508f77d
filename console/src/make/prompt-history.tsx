// The prompts of the newest runs, to use again: in a menu, or with Alt and the arrow keys within the form.
import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useEffect, useRef } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import { nextPrompt, promptsOf } from "./prompts.ts";
import { recentRunsQuery } from "./recent-runs.ts";

type PromptHistoryProps = { prompt: unknown; onChoose(prompt: string): void };

export function PromptHistory({ prompt, onChoose }: PromptHistoryProps) {
  const { data } = useQuery(recentRunsQuery);
  const prompts = promptsOf(data?.data ?? []);
  const latest = useRef({ prompts, prompt, onChoose });
  latest.current = { prompts, prompt, onChoose };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!event.altKey || step === undefined) return;
      const { prompts: known, prompt: now, onChoose: choose } = latest.current;
      const next = nextPrompt(known, now, step);
      if (next === undefined) return;
      event.preventDefault();
      choose(next);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <MenuTrigger>
      <Button className={buttonClass({ kind: "quiet", size: "s" })} isDisabled={prompts.length === 0}>
        <Icon of={History} size="s" />
        {text.make.history}
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="bottom start">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.make.history}>
          {prompts.map((each) => (
            <MenuItem key={each} textValue={each} className={menuStyles.entry ?? ""} onAction={() => onChoose(each)}>
              {each}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
