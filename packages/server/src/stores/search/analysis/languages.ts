import { stemmer as stemDanish } from '@orama/stemmers/danish';
import { stemmer as stemDutch } from '@orama/stemmers/dutch';
import { stemmer as stemFinnish } from '@orama/stemmers/finnish';
import { stemmer as stemFrench } from '@orama/stemmers/french';
import { stemmer as stemGerman } from '@orama/stemmers/german';
import { stemmer as stemItalian } from '@orama/stemmers/italian';
import { stemmer as stemNorwegian } from '@orama/stemmers/norwegian';
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese';
import { stemmer as stemRussian } from '@orama/stemmers/russian';
import { stemmer as stemSpanish } from '@orama/stemmers/spanish';
import { stemmer as stemSwedish } from '@orama/stemmers/swedish';
import stemEnglish from 'wink-porter2-stemmer';
import { foldLetters } from './fold.ts';
import { stopWordLists } from './stop-words.ts';
import { toTerm } from './tokenizer.ts';

/** The languages whose words have stems, by their codes in ISO 639-1. */
export type Language = keyof typeof stopWordLists;

const stemmers: Readonly<Record<Language, (word: string) => string>> = {
  en: stemEnglish,
  de: stemGerman,
  fr: stemFrench,
  es: stemSpanish,
  it: stemItalian,
  pt: stemPortuguese,
  nl: stemDutch,
  sv: stemSwedish,
  da: stemDanish,
  no: stemNorwegian,
  fi: stemFinnish,
  ru: stemRussian,
};

/** The language of Cyrillic letters, and that of Latin letters in a text whose language is unknown. */
const byScript = { cyrillic: 'ru', latin: 'en' } as const;
/** The languages that a chunk with their stems names in a term. */
export const namedLanguages: readonly Language[] = (Object.keys(stemmers) as Language[]).filter(
  (language) => language !== byScript.cyrillic && language !== byScript.latin,
);

/** Folded words of letters of one script; words with digits, dots or underscores have no stems. */
const latinWord = /^[a-z]+(?:'[a-z]+)?$/;
const cyrillicWord = /^[\u0430-\u045f\u0491]+$/;

/** The stems of each language, because texts repeat their words. */
const knownStems = new Map<Language, Map<string, string>>();
const mostKnown = 20_000;

/** Returns the term of a folded word in a text whose Latin letters belong to a language. */
export function stemIn(language: Language, word: string): string {
  const known = knownStems.get(language) ?? new Map<string, string>();
  knownStems.set(language, known);
  const found = known.get(word);
  if (found !== undefined) return found;
  const stem = computeStem(language, word);
  if (known.size === mostKnown) known.clear();
  known.set(word, stem);
  return stem;
}

function computeStem(language: Language, word: string): string {
  if (cyrillicWord.test(word)) return stemmers[byScript.cyrillic](word) || word;
  if (!latinWord.test(word)) return toTerm(word);
  return stemmers[language](word) || word;
}

/** The languages that have a word in their list of stop words. */
const stopLanguages = new Map<string, Language[]>();
for (const [language, list] of Object.entries(stopWordLists) as Array<[Language, string]>) {
  for (const word of foldLetters(list).trim().split(/\s+/)) {
    const languages = stopLanguages.get(word);
    if (languages === undefined) stopLanguages.set(word, [language]);
    else languages.push(language);
  }
}

/** Returns the languages that have the folded word in their list of stop words. */
export function stopLanguagesOf(word: string): readonly Language[] {
  return stopLanguages.get(word) ?? [];
}

/** A language is found from this many stop words on that no other language has. */
const least = 1.5;
/** One word that a text repeats may belong to another language. */
const leastDistinct = 2;
/** The language must have this many times the stop words of the next one. */
const lead = 1.2;

/** Finds the language of the Latin letters of a text by its stop words, from its folded words and their frequencies. */
export function detectLanguage(words: ReadonlyMap<string, number>): Language | null {
  const hits = new Map<Language, { times: number; distinct: number }>();
  for (const [word, times] of words) {
    const languages = stopLanguages.get(word);
    if (languages === undefined) continue;
    for (const language of languages) {
      const hit = hits.get(language) ?? { times: 0, distinct: 0 };
      hits.set(language, hit);
      hit.times += times / languages.length;
      hit.distinct += 1;
    }
  }
  hits.delete(byScript.cyrillic);
  const [first, second] = [...hits].sort(([, a], [, b]) => b.times - a.times);
  if (first === undefined) return null;
  const [language, { times, distinct }] = first;
  const isClear = times >= least && distinct >= leastDistinct && times >= lead * (second?.[1].times ?? 0);
  return isClear ? language : null;
}

/** The language whose stems a text has: its own, or English when it is unknown. */
export function languageOf(words: ReadonlyMap<string, number>): Language {
  return detectLanguage(words) ?? byScript.latin;
}
