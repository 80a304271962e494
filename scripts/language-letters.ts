// Writes `packages/server/src/stores/extraction/encoding/language-letters.ts`: how often letters and pairs of letters occur in
// each language. It counts them in the names that the Unicode CLDR has for languages, regions, currencies and scripts.
// Names lack some letters that occur in sentences, so a few everyday words are added. Run it only when the list of
// languages changes, because the result is committed.
import { writeFileSync } from 'node:fs';

const languages =
  'en fr de es pt it nl da sv nb fi is ga cy ca et lv lt pl cs sk sl hr hu ro sq tr mt eo vi ru uk be bg mk sr kk el ar fa ur he yi th'.split(
    ' ',
  );
/** The number of repetitions of everyday words, which then are about a tenth of the text. */
const repeats = 8;
const everydayWords: Record<string, string> = {
  it: 'è né più perché può città sarà così già là però è',
  fr: 'à où été même très après être déjà élève première façon çà hôtel voilà août à cœur',
  es: 'él más también está años qué cómo día sí así sólo según había español',
  pt: 'à é não são também já há até só você através à é então informação ções às',
  ca: 'és à això què també més però són aquí',
  de: 'für über können müssen größe straße während würde schön große fuß',
  nl: 'één geïnteresseerd coördinatie vóór zoë reünie',
  da: 'på også være når både første så gør år får større',
  nb: 'på også være når både første så gjør år får større',
  sv: 'på också är när både första så gör år får större för från',
  fi: 'että myös hän sitä tämä jälkeen yhtiö työ päivä mitä',
  et: 'või ära väga üle jõud töö päev õige süsteem',
  hu: 'és hogy egy volt még már csak ő így közötti első főleg között hétfő idő szó új út',
  ro: 'şi în că să între după două această când fără ţară ştiinţă însă până',
  pl: 'się że są być może więcej także które został również źródło ćwiczenie',
  cs: 'že je být může které při více také než již která í ů jsou města',
  sk: 'že je byť môže ktoré pri viac tiež než už ktorá ľudia mesta',
  sl: 'še že več tudi če pri kjer življenje čas',
  hr: 'što više također još će kod život čovjek',
  lt: 'ir yra būti kurie taip pat šį žmonės gali kaip jų įmonė',
  lv: 'ir būt kurā arī šī pēc cilvēki var kā tā gadā',
  tr: 'bir için çok şu ve değil ile gibi kadar göre ölçü aynı iş dün güç',
  ga: 'agus é í sé sí ar bhí más tá nó',
  cy: 'ŷ yw’r tŷ gŵr dŵr sŵn hŷn môr tân ŷd',
  is: 'að og er í á það sem við hún því þess við úr ný',
  en: 'café naïve façade résumé',
};
const path = 'packages/server/src/stores/extraction/encoding/language-letters.ts';
/** Pairs that occur less often are left out, because they are not significant. */
const leastPairs = 3;
const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const pairs = letters.flatMap((a) => letters.map((b) => a + b));
const triples = pairs.flatMap((pair) => letters.map((c) => pair + c));

const entries = languages.map((language) => `  ${language}: '${describe(namesOf(language))}',`);
writeFileSync(
  path,
  `/**
 * Written by \`scripts/language-letters.ts\`. Of each language: letters and their costs, a bar, then pairs of letters and
 * the cost of the second after the first. A space is a word boundary. A cost is the negative logarithm of the
 * probability in quarters, as a character from \`(\` (0).
 */
export const languageLetters = {
${entries.join('\n')}
} as const;
`,
);

function namesOf(language: string): string {
  const found: string[] = [];
  const add = (type: Intl.DisplayNamesType, codes: readonly string[]) => {
    const names = new Intl.DisplayNames([language], { type, fallback: 'none' });
    for (const code of codes) found.push(names.of(code) ?? '');
  };
  const upper = (codes: readonly string[]) => codes.map((code) => code.toUpperCase());
  add('language', [...pairs, ...triples]);
  add('region', upper(pairs));
  add('currency', upper(triples));
  const words = `\n${everydayWords[language] ?? ''}`.repeat(repeats);
  return found.filter((name) => name !== '').join('\n') + words;
}

function describe(text: string): string {
  const singles = new Map<string, number>();
  const doubles = new Map<string, number>();
  let previous = ' ';
  for (const character of text.normalize('NFC').toLowerCase()) {
    const letter = fold(character);
    if (letter === ' ' && previous === ' ') continue;
    singles.set(letter, (singles.get(letter) ?? 0) + 1);
    doubles.set(previous + letter, (doubles.get(previous + letter) ?? 0) + 1);
    previous = letter;
  }
  const total = [...singles.values()].reduce((sum, count) => sum + count, 0);
  const costs = [...singles].toSorted(byCount).map(([letter, count]) => letter + cost(count / total));
  const frequent = [...doubles]
    .filter(([pair, count]) => count >= leastPairs && /[^ a-z]/.test(pair))
    .toSorted(byCount);
  const pairCosts = frequent.map(([pair, count]) => pair + cost(count / (singles.get(pair.charAt(0)) ?? count)));
  return `${costs.join('')}|${pairCosts.join('')}`;
}

/** Replaces Romanian letters with a comma below by those with a cedilla, which most code pages contain instead. */
function fold(character: string): string {
  const cedillas: Record<string, string> = { ș: 'ş', ț: 'ţ' };
  if (character.length > 1 || !/[\p{L}\p{M}]/u.test(character)) return ' ';
  return cedillas[character] ?? character;
}

function cost(share: number): string {
  return String.fromCharCode(40 + Math.min(48, Math.round(-4 * Math.log(share))));
}

function byCount([a, first]: [string, number], [b, second]: [string, number]): number {
  return second - first || (a < b ? -1 : 1);
}
