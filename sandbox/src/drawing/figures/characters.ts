// Robots and astronauts. People are drawn in person.ts.
import { darker, type FigureDrawing, lighter } from "./drawing.ts";

export const robot: FigureDrawing = ({ accent }) => {
  const metal = lighter(accent, 0.35);
  return [
    `<ellipse cx="50" cy="99" rx="30" ry="3.5" fill="#05070d" opacity=".28"/>`,
    `<path d="M50 8V0" stroke="#4a4f5c" stroke-width="2.5"/><circle cx="50" cy="-1" r="3.4" fill="#f2614b"/>`,
    `<path d="M28 48C16 52 14 64 16 74M72 48C84 44 88 34 86 24" fill="none" stroke="${darker(accent, 0.1)}" stroke-width="8" stroke-linecap="round"/>`,
    `<circle cx="16" cy="76" r="5.5" fill="#4a4f5c"/><circle cx="86" cy="22" r="5.5" fill="#4a4f5c"/>`,
    `<rect x="33" y="74" width="12" height="20" fill="${darker(accent, 0.2)}"/><rect x="55" y="74" width="12" height="20" fill="${darker(accent, 0.2)}"/>`,
    `<rect x="28" y="91" width="19" height="9" rx="4" fill="#4a4f5c"/><rect x="53" y="91" width="19" height="9" rx="4" fill="#4a4f5c"/>`,
    `<rect x="45" y="36" width="10" height="8" fill="#4a4f5c"/>`,
    `<rect x="26" y="42" width="48" height="35" rx="9" fill="${accent}"/><rect x="34" y="50" width="32" height="19" rx="4" fill="#20242f"/>`,
    `<path d="M38 63L44 56L49 62L55 54L62 61" fill="none" stroke="#6fe3c1" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/>`,
    `<rect x="26" y="7" width="48" height="32" rx="12" fill="${metal}"/><rect x="32" y="13" width="36" height="20" rx="9" fill="#20242f"/>`,
    `<circle cx="42" cy="22" r="4.5" fill="#7fe8ff"/><circle cx="58" cy="22" r="4.5" fill="#7fe8ff"/><path d="M45 29Q50 32 55 29" fill="none" stroke="#7fe8ff" stroke-width="1.8" stroke-linecap="round"/>`,
  ].join("");
};

export const astronaut: FigureDrawing = ({ accent }) =>
  [
    `<ellipse cx="50" cy="99" rx="30" ry="3.5" fill="#05070d" opacity=".35"/>`,
    `<rect x="24" y="38" width="52" height="36" rx="8" fill="#9aa3b2"/>`,
    `<path d="M32 48C20 54 18 64 22 72M68 48C82 46 88 36 86 24" fill="none" stroke="#e6eaf0" stroke-width="12" stroke-linecap="round"/>`,
    `<circle cx="22" cy="75" r="6.5" fill="${accent}"/><circle cx="86" cy="20" r="6.5" fill="${accent}"/>`,
    `<path d="M34 70H49V96H31Z" fill="#dfe4ec"/><path d="M51 70H66L69 96H51Z" fill="#cfd5df"/>`,
    `<path d="M27 93H49V100H27C23 100 23 93 27 93ZM51 93H73C77 93 77 100 73 100H51Z" fill="#6b7484"/>`,
    `<path d="M31 52C31 42 69 42 69 52L70 76H30Z" fill="#f4f6f9"/><rect x="39" y="55" width="22" height="13" rx="3" fill="#c3cad6"/><circle cx="44" cy="61.5" r="2.3" fill="#d8453c"/><circle cx="50" cy="61.5" r="2.3" fill="#f2b233"/><circle cx="56" cy="61.5" r="2.3" fill="#3f9b57"/>`,
    `<path d="M31 72H69" stroke="${accent}" stroke-width="3.5"/>`,
    `<circle cx="50" cy="25" r="23" fill="#f4f6f9"/><circle cx="50" cy="25" r="23" fill="none" stroke="#c3cad6" stroke-width="2"/>`,
    `<ellipse cx="50" cy="26" rx="17" ry="14" fill="#1d2740"/><path d="M37 22C40 14 50 12 56 15C48 17 42 21 40 30C37 28 36 25 37 22Z" fill="#7fb4e8" opacity=".85"/><path d="M58 37C62 35 65 31 65.5 26" fill="none" stroke="${accent}" stroke-width="2" stroke-linecap="round"/>`,
  ].join("");
