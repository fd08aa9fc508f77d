// Copies a text to the clipboard and says so for two seconds.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

const SHOWN_MS = 2000;

type CopyButtonProps = { value: string; label: string; isIconOnly?: boolean };

export function CopyButton({ value, label, isIconOnly = false }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), SHOWN_MS);
  };
  const words = isCopied ? text.common.copied : label;
  return (
    <Button kind="quiet" size="s" isIconOnly={isIconOnly} label={words} onClick={() => void copy()}>
      <Icon of={isCopied ? Check : Copy} size="s" />
      {!isIconOnly && words}
    </Button>
  );
}
