// Words about pixels that an edit changed.
import { formatCount } from "./count.ts";

const count = (pixels: number) => `${formatCount(pixels)} ${pixels === 1 ? "pixel" : "pixels"}`;

export const pixelsText = {
  counting: "Counting the pixels that changed",
  outside: (pixels: number) => `Outside the mask: ${count(pixels)} changed.`,
  counts: (inside: number, outsideTotal: number) =>
    `Inside: ${count(inside)} changed. Compared ${count(outsideTotal)} outside.`,
  otherSize: "The images differ in size, so their pixels cannot be compared.",
  unreadable: "The pixels could not be read. Reload the page to count them again.",
};
