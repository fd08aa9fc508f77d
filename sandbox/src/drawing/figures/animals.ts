// Animals that a prompt can name.
import { lightnessOf } from "../colour.ts";
import { darker, eye, type FigureDrawing, lighter } from "./drawing.ts";

const sitting =
  "M30 100C22 78 30 62 38 52C33 46 32 38 33 29L32 10L45 21C48 20 54 20 57 21L70 10L69 29C70 38 69 46 64 52C74 62 81 80 77 100Z";

export const cat: FigureDrawing = ({ accent, light }) => {
  const detail = lightnessOf(accent) > 0.6 ? "#22252e" : light;
  return [
    `<path d="M72 96C98 99 104 78 92 64" fill="none" stroke="${accent}" stroke-width="7" stroke-linecap="round"/>`,
    `<path d="${sitting}" fill="${accent}"/>`,
    `<path d="M35 16L36 27L43 22ZM67 16L66 27L59 22Z" fill="${lighter(accent, 0.25)}"/>`,
    `<g fill="${detail}"><ellipse cx="44" cy="35" rx="3" ry="3.6"/><ellipse cx="58" cy="35" rx="3" ry="3.6"/><path d="M48.5 42H53.5L51 45Z"/></g>`,
    `<path d="M38 43L26 40M38 46L26 48M64 43L76 40M64 46L76 48" stroke="${detail}" stroke-width="1" stroke-linecap="round" opacity=".7"/>`,
  ].join("");
};

export const fox: FigureDrawing = ({ ink, accent, light }) =>
  `<path d="M66 100C100 104 116 78 98 52C98 72 86 80 68 82Z" fill="${accent}"/><path d="M98 52C106 62 107 72 103 80C97 76 95 66 98 52Z" fill="${light}"/><path d="${sitting}" fill="${accent}"/><path d="M34 38C40 40 47 44 51 50C55 44 62 40 68 38C68 46 60 53 51 58C42 53 34 46 34 38ZM42 64C48 70 54 70 60 64C62 76 58 90 51 97C44 90 40 76 42 64Z" fill="${light}"/><g fill="${ink}"><circle cx="43" cy="36" r="2.3"/><circle cx="59" cy="36" r="2.3"/><circle cx="51" cy="56" r="2.8"/></g>`;

export const dog: FigureDrawing = ({ accent }) => {
  const ear = darker(accent, 0.35);
  return [
    `<path d="M74 90C92 92 98 76 92 62" fill="none" stroke="${accent}" stroke-width="7" stroke-linecap="round"/>`,
    `<path d="M38 100V64C40 50 54 48 62 52C76 58 84 76 82 100Z" fill="${accent}"/>`,
    `<path d="M60 100C58 84 66 76 74 78C82 80 84 90 82 100Z" fill="${darker(accent, 0.12)}"/>`,
    `<path d="M36 56H52L50 100H35Z" fill="${accent}"/>`,
    `<path d="M38 60C38 74 40 84 44 92C47 82 50 72 50 60Z" fill="${lighter(accent, 0.55)}"/>`,
    `<path d="M30 100C30 95 50 95 51 100Z" fill="${lighter(accent, 0.4)}"/>`,
    `<circle cx="42" cy="32" r="20" fill="${accent}"/>`,
    `<ellipse cx="27" cy="40" rx="14" ry="10" fill="${lighter(accent, 0.5)}"/>`,
    `<path d="M18 47Q26 54 35 48" fill="none" stroke="#3a2420" stroke-width="1.8" stroke-linecap="round"/><path d="M22 49Q25 60 29 50Z" fill="#e0697a"/>`,
    `<ellipse cx="16" cy="35.5" rx="5" ry="4" fill="#1b1d26"/>`,
    eye(34, 27, 3.2),
    `<path d="M46 13C60 12 66 32 58 50C48 48 42 28 46 13Z" fill="${ear}"/>`,
    `<path d="M36 51Q46 58 58 50" fill="none" stroke="#c8372d" stroke-width="4.5" stroke-linecap="round"/><circle cx="45" cy="58" r="3.4" fill="#f2c14b"/>`,
  ].join("");
};

/** On a branch that comes in from the right. */
export const bird: FigureDrawing = ({ accent }) =>
  [
    `<path d="M10 96C60 88 120 92 240 70L242 78C130 98 70 96 12 101Z" fill="#5d4030"/>`,
    `<path d="M126 84C132 66 150 64 160 72C150 84 138 88 126 84ZM168 80C178 90 192 92 198 86C192 76 178 74 168 80Z" fill="#5f9a4f"/>`,
    `<path d="M44 78L42 94M56 78L57 93" stroke="#d98b2b" stroke-width="3" stroke-linecap="round"/>`,
    `<path d="M64 62C78 66 92 78 104 96C88 92 74 88 62 78Z" fill="${darker(accent, 0.35)}"/>`,
    `<path d="M22 48C22 30 36 20 50 24C68 28 76 46 78 66C74 80 58 84 44 80C30 76 22 64 22 48Z" fill="${accent}"/>`,
    `<path d="M26 58C30 52 42 54 50 62C54 70 50 80 44 80C32 77 26 68 26 58Z" fill="${lighter(accent, 0.65)}"/>`,
    `<path d="M46 48C58 44 72 56 84 80C68 80 48 70 46 48Z" fill="${darker(accent, 0.2)}"/>`,
    `<path d="M24 36L8 42L25 46Z" fill="#f0a02c"/>`,
    eye(34, 37, 3.4),
  ].join("");

export const fish: FigureDrawing = ({ accent, light }) =>
  [
    `<path d="M70 54L100 30C94 46 94 62 100 78Z" fill="${darker(accent, 0.12)}"/>`,
    `<path d="M30 36C40 18 58 18 68 30L58 40Z" fill="${darker(accent, 0.15)}"/><path d="M40 72C46 84 56 86 62 82L58 68Z" fill="${darker(accent, 0.15)}"/>`,
    `<path d="M4 56C18 28 56 26 78 54C56 82 18 82 4 56Z" fill="${accent}"/>`,
    `<path d="M34 35C42 46 42 64 34 76L44 76C52 64 52 46 44 33ZM56 36C62 46 62 62 56 73L64 68C69 60 69 50 64 41Z" fill="${lighter(accent, 0.7)}"/>`,
    `<path d="M28 46Q36 55 28 66" fill="none" stroke="${darker(accent, 0.35)}" stroke-width="2"/><path d="M40 56Q50 50 52 60Q46 66 40 56Z" fill="${darker(accent, 0.2)}"/>`,
    `<path d="M4 57Q9 60 13 58" fill="none" stroke="${darker(accent, 0.5)}" stroke-width="2" stroke-linecap="round"/>`,
    eye(19, 50, 4),
    `<g fill="none" stroke="${light}" stroke-width="1.6" opacity=".8"><circle cx="-6" cy="40" r="4"/><circle cx="-14" cy="24" r="6"/><circle cx="-4" cy="10" r="3"/></g>`,
  ].join("");

export const birds: FigureDrawing = ({ ink }) =>
  `<g fill="none" stroke="${ink}" stroke-width="3" stroke-linecap="round"><path d="M10 40Q22 26 32 40Q42 26 54 40"/><path d="M60 18Q68 8 75 18Q82 8 90 18"/><path d="M66 66Q73 57 80 66Q87 57 94 66"/></g>`;
