// Buildings, plants and boats that a prompt can name.
import { mix } from "../colour.ts";
import { gradient } from "../scene-context.ts";
import { darker, type FigureDrawing } from "./drawing.ts";

export const house: FigureDrawing = ({ ink, accent, light }) =>
  `<path d="M68 52V30H76V58" fill="${ink}"/><rect x="18" y="56" width="64" height="44" fill="${mix(ink, light, 0.72)}"/><path d="M8 60L50 24L92 60Z" fill="${accent}"/><rect x="43" y="74" width="15" height="26" fill="${ink}"/><g fill="${mix(light, "#ffc94d", 0.5)}"><rect x="25" y="68" width="12" height="12"/><rect x="64" y="68" width="12" height="12"/></g>`;

export const lighthouse: FigureDrawing = ({ ink, accent, light }) =>
  `<defs>${gradient(
    "beam",
    [
      [0, light, 0],
      [1, light, 0.45],
    ],
    true,
  )}</defs><path d="M50 13L-110 -16V48Z" fill="url(#beam)"/><path d="M40 24H60L66 100H34Z" fill="${mix(light, "#ffffff", 0.4)}"/><path d="M38.4 44H61.6L63.2 62H36.8ZM35.4 80H64.6L66 100H34Z" fill="${accent}"/><rect x="36" y="20" width="28" height="5" fill="${ink}"/><rect x="42" y="7" width="16" height="13" fill="${mix(light, "#ffd75e", 0.5)}"/><path d="M39 7L50 -3L61 7Z" fill="${ink}"/>`;

export const tree: FigureDrawing = ({ ink, accent, light }) =>
  `<path d="M46 100L48 56L36 44L38 42L49 50L50 30L54 30L54 52L66 42L68 44L55 58L57 100Z" fill="${mix("#5b4232", ink, 0.3)}"/><g fill="${mix(accent, ink, 0.2)}"><circle cx="34" cy="40" r="20"/><circle cx="68" cy="40" r="20"/><circle cx="51" cy="24" r="25"/></g><g fill="${mix(accent, light, 0.3)}" opacity=".65"><circle cx="44" cy="18" r="12"/><circle cx="30" cy="36" r="9"/><circle cx="66" cy="34" r="10"/></g>`;

export const flower: FigureDrawing = ({ accent, light }) => {
  const petals = (length: number, breadth: number, fill: string, turn: number) =>
    Array.from(
      { length: 8 },
      (_, index) =>
        `<ellipse cx="50" cy="${32 - length}" rx="${breadth}" ry="${length}" fill="${fill}" transform="rotate(${turn + index * 45} 50 32)"/>`,
    ).join("");
  return [
    `<path d="M50 34C54 56 46 78 50 101" fill="none" stroke="#4c8a45" stroke-width="4" stroke-linecap="round"/>`,
    `<path d="M49 84C34 84 24 74 22 62C38 62 48 70 49 84ZM50 74C62 74 72 66 76 54C62 54 52 62 50 74Z" fill="#5f9f52"/>`,
    petals(15, 8.5, darker(accent, 0.15), 22.5),
    petals(14, 8, accent, 0),
    `<circle cx="50" cy="32" r="10" fill="#f2b233"/><circle cx="47" cy="29" r="4" fill="${mix("#f2b233", light, 0.6)}"/>`,
  ].join("");
};

export const boat: FigureDrawing = ({ ink, accent, light }) =>
  `<path d="M47 8V74" stroke="${ink}" stroke-width="2.5"/><path d="M50 10C66 30 76 50 80 70H50Z" fill="${mix(light, "#ffffff", 0.5)}"/><path d="M44 18C32 36 24 54 20 70H44Z" fill="${accent}"/><path d="M8 76H92C86 92 76 98 64 98H34C22 98 13 90 8 76Z" fill="${ink}"/><path d="M4 101H96" stroke="${light}" stroke-width="2.5" stroke-linecap="round" opacity=".6"/>`;

export const balloon: FigureDrawing = ({ ink, accent, light }) =>
  `<path d="M40 68L44 86M60 68L56 86" stroke="${ink}" stroke-width="1.4"/><path d="M50 0C76 0 86 20 82 38C79 54 66 62 62 70H38C34 62 21 54 18 38C14 20 24 0 50 0Z" fill="${accent}"/><path d="M50 0C62 12 64 48 56 70H44C36 48 38 12 50 0ZM50 0C30 8 20 30 26 52C20 46 18 42 18 38C14 20 24 0 50 0Z" fill="${mix(accent, light, 0.6)}"/><rect x="42" y="86" width="16" height="13" rx="3" fill="${ink}"/>`;
