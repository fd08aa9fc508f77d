// A small recognisable person: the same traits give the same hair, face and clothes in every scene.

import { mix } from "./colour.ts";
import { round } from "./scene-context.ts";
import type { SeededRandom } from "./seeded-random.ts";

export type Traits = {
  skin: string;
  hair: string;
  top: string;
  trousers: string;
  accent: string;
  haircut: "short" | "long" | "bun" | "curly";
  extra: "scarf" | "hat" | "glasses" | "bow";
  pattern: "plain" | "stripes" | "dot";
};

export type Pose = "wave" | "rest" | "cheer";
export type PersonStyle = { isOutlined?: boolean; isShaded?: boolean };

const skins = ["#f6d3b8", "#eab98f", "#c98d62", "#9a6440", "#6d442c"];

/** `colours` dress the person, the most important first; `random` decides the other traits. */
export const traitsFrom = (colours: readonly string[], random: SeededRandom): Traits => {
  const spare = ["#3c6fb4", "#d65a4a", "#3f9b57", "#8440b8", "#f0a030"];
  const [top = random.pick(spare), trousers = mix(top, "#1c2333", 0.7), accent = mix(top, "#ffffff", 0.6), dark] =
    colours;
  return {
    skin: random.pick(skins),
    hair: dark ? mix(dark, "#1a1410", 0.5) : random.pick(["#2a1d18", "#5b3a22", "#a86f2e", "#1d1f2b", "#8c3b22"]),
    top,
    trousers,
    accent,
    haircut: random.pick(["short", "long", "bun", "curly"]),
    extra: random.pick(["scarf", "hat", "glasses", "bow"]),
    pattern: random.pick(["plain", "stripes", "dot"]),
  };
};

const cap = "M25 42C21 8 79 8 75 42C70 31 62 26 54 27C46 31 34 30 25 42Z";

const haircuts: Record<Traits["haircut"], { behind: string; before: string }> = {
  short: { behind: "", before: `<path d="${cap}"/>` },
  long: { behind: `<path d="M23 40C18 6 82 6 77 40L80 82C70 88 30 88 20 82Z"/>`, before: `<path d="${cap}"/>` },
  bun: { behind: `<circle cx="50" cy="9" r="10"/>`, before: `<path d="${cap}"/>` },
  curly: {
    behind: "",
    before: [
      [28, 34],
      [32, 23],
      [42, 17],
      [53, 16],
      [63, 19],
      [70, 27],
      [73, 37],
    ]
      .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="9"/>`)
      .join(""),
  },
};

const arms: Record<Pose, readonly [left: string, right: string, hands: readonly (readonly [number, number])[]]> = {
  wave: [
    "M38 80Q26 94 27 116",
    "M62 80Q78 74 84 52",
    [
      [27, 117],
      [84.5, 50],
    ],
  ],
  rest: [
    "M38 80Q27 96 29 117",
    "M62 80Q73 96 71 117",
    [
      [29, 118],
      [71, 118],
    ],
  ],
  cheer: [
    "M38 80Q22 72 17 50",
    "M62 80Q78 72 83 50",
    [
      [16.5, 48],
      [83.5, 48],
    ],
  ],
};

const extras: Record<Traits["extra"], (accent: string) => string> = {
  scarf: (accent) => `<path d="M36 68Q50 78 64 68L65 76Q50 86 35 76ZM57 76L68 78L71 104L60 103Z" fill="${accent}"/>`,
  hat: (accent) =>
    `<path d="M31 22C31 2 69 2 69 22Z" fill="${accent}"/><rect x="20" y="20" width="60" height="6.5" rx="3.2" fill="${mix(accent, "#000000", 0.2)}"/>`,
  glasses: () =>
    `<g fill="#ffffff" fill-opacity=".3" stroke="#22252e" stroke-width="2"><circle cx="40.5" cy="43" r="7.5"/><circle cx="59.5" cy="43" r="7.5"/><path d="M48 43H52"/></g>`,
  bow: (accent) =>
    `<path d="M62 16L50 8V25ZM62 16L74 8V25Z" fill="${accent}"/><circle cx="62" cy="16.4" r="4" fill="${mix(accent, "#000000", 0.2)}"/>`,
};

const shirt = "M35 76C37 66 63 66 65 76L70 134H30Z";

const pattern = ({ pattern: kind, accent }: Traits): string => {
  if (kind === "stripes") {
    return `<g stroke="${accent}" stroke-width="6" clip-path="url(#shirt)"><path d="M28 88H72M28 103H72M28 118H72"/></g>`;
  }
  return kind === "dot" ? `<circle cx="50" cy="101" r="9.5" fill="${accent}"/>` : "";
};

/** The person in a box of 100 by 196, standing on its lower edge. */
const drawing = (traits: Traits, pose: Pose, { isOutlined, isShaded }: PersonStyle): string => {
  const { skin, hair, top, trousers, accent, haircut, extra } = traits;
  const [left, right, hands] = arms[pose];
  const line = isOutlined ? ` stroke="#1d1f28" stroke-width="2.2" stroke-linejoin="round"` : "";
  const { behind, before } = haircuts[haircut];
  const sleeve = (path: string) =>
    `${isOutlined ? `<path d="${path}" fill="none" stroke="#1d1f28" stroke-width="14.4" stroke-linecap="round"/>` : ""}<path d="${path}" fill="none" stroke="${mix(top, "#000000", 0.1)}" stroke-width="11" stroke-linecap="round"/>`;
  return [
    `<defs><clipPath id="shirt"><path d="${shirt}"/></clipPath></defs>`,
    `<ellipse cx="50" cy="193" rx="36" ry="4.5" fill="#05070d" opacity=".28"/>`,
    `<g fill="${hair}"${line}>${behind}</g>`,
    `<g fill="${trousers}"${line}><path d="M32 130H49.5V186H35Z"/><path d="M50.5 130H68L65 186H50.5Z"/></g>`,
    `<g fill="${mix(trousers, "#101218", 0.6)}"${line}><ellipse cx="40" cy="189" rx="11" ry="5.5"/><ellipse cx="60" cy="189" rx="11" ry="5.5"/></g>`,
    hands.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="6" fill="${skin}"${line}/>`).join(""),
    sleeve(left) + sleeve(right),
    `<path d="${shirt}" fill="${top}"${line}/>${pattern(traits)}`,
    isShaded ? `<path d="M56 66C62 66 64 70 65 76L70 134H56Z" fill="#05070d" opacity=".14"/>` : "",
    `<rect x="44" y="60" width="12" height="13" rx="5" fill="${mix(skin, "#7a4a30", 0.25)}"/>`,
    `<circle cx="50" cy="43" r="25" fill="${skin}"${line}/>`,
    isShaded ? `<path d="M58 19.5A25 25 0 0 1 58 66.5C70 54 70 32 58 19.5Z" fill="#4a2010" opacity=".14"/>` : "",
    `<g fill="#20232c"><ellipse cx="41" cy="43" rx="2.9" ry="3.7"/><ellipse cx="59" cy="43" rx="2.9" ry="3.7"/></g><g fill="#ffffff"><circle cx="42" cy="41.6" r="1"/><circle cx="60" cy="41.6" r="1"/></g>`,
    `<g fill="#e8607f" opacity=".28"><circle cx="34.5" cy="51" r="4"/><circle cx="65.5" cy="51" r="4"/></g><path d="M43.5 53Q50 59.5 56.5 53" fill="none" stroke="#7a2c2c" stroke-width="2.2" stroke-linecap="round"/>`,
    `<g fill="${hair}"${line}>${before}</g>`,
    extras[extra](accent),
  ].join("");
};

/** A person `height` high, standing with the feet at (`x`, `foot`). */
export const drawPerson = (
  traits: Traits,
  place: { x: number; foot: number; height: number },
  pose: Pose = "wave",
  look: PersonStyle = {},
): string => {
  const scale = place.height / 196;
  return `<g transform="translate(${round(place.x - 50 * scale)} ${round(place.foot - 194 * scale)}) scale(${scale.toFixed(4)})">${drawing(traits, pose, look)}</g>`;
};
