// The button of the design. A button without words needs `label`.
import type { ComponentProps } from "react";
import { type ButtonLook, buttonClass } from "./button-class.ts";

type ButtonProps = Omit<ComponentProps<"button">, "className"> & ButtonLook & { label?: string };

export function Button({ kind, size, isIconOnly, label, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={buttonClass({ kind, size, isIconOnly })} aria-label={label} {...rest} />;
}
