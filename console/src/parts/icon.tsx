// An icon of lucide in the design's sizes: 14, 16 or 20 px. Icons repeat words, so screen readers skip them.
import type { LucideIcon } from "lucide-react";

const SIZES = {
  s: { size: 14, strokeWidth: 1.7 },
  m: { size: 16, strokeWidth: 1.6 },
  l: { size: 20, strokeWidth: 1.5 },
};

type IconProps = { of: LucideIcon; size?: keyof typeof SIZES; className?: string | undefined };

export function Icon({ of: Shape, size = "m", className }: IconProps) {
  return <Shape {...SIZES[size]} {...(className && { className })} aria-hidden="true" focusable="false" />;
}
