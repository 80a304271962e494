import { foldLetters } from './fold.ts';
import { partsOf } from './joined-words.ts';
import { type Language, languageOf, namedLanguages, stemIn, stopLanguagesOf } from './languages.ts';
import { formOf, languageTerm, looselyOf, looseTerm } from './term-kinds.ts';
import { addWords, foldWord } from './tokenizer.ts';

/**
 * Returns the terms of a text for the index with their frequencies, from its folded words and theirs. A word is indexed by its
 * stem in the language of the text, and not by itself. A word of Hangul is indexed by the pairs of its syllables, and a word that signs
 * join by itself and, loosely, by its parts. A word that only has forms that folding changed is indexed loosely. Such a form counts once,
 * and that of a stop word does not count. A further term names the language, unless it is English or unknown.
 * @param language by default that of the text
 */
export function toTermFrequencies(
  words: ReadonlyMap<string, number>,
  language: Language = languageOf(words),
): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string, times: number) => void terms.set(term, (terms.get(term) ?? 0) + times);
  const changed = new Map<string, number>();
  for (const [word, times] of words) {
    const form = formOf(word);
    if (form === null || stopLanguagesOf(foldLetters(form)).length > 0) continue;
    terms.set(word, 1);
    const folded = foldWord(form);
    changed.set(folded, (changed.get(folded) ?? 0) + times);
  }
  for (const [key, times] of words) {
    if (formOf(key) !== null) continue;
    const part = looselyOf(key);
    const word = part ?? key;
    const isLoose = part !== null || (changed.get(word) ?? 0) >= times;
    if (isHangul(word)) for (const pair of pairsOf(word)) add(pair, times);
    else {
      const [whole, ...parts] = termsOfWord(word, language);
      add(isLoose ? looseTerm(whole) : whole, times);
      for (const each of parts) add(looseTerm(each), times);
    }
  }
  joinLoose(terms);
  if (namedLanguages.includes(language) && terms.size > 0) terms.set(languageTerm(language), 1);
  return terms;
}

/** Counts the loose terms whose plain term a chunk has, too, as the plain term. */
export function joinLoose(terms: Map<string, number>): void {
  for (const [term, times] of terms) {
    const plain = looselyOf(term);
    const known = plain === null ? undefined : terms.get(plain);
    if (plain === null || known === undefined) continue;
    terms.set(plain, known + times);
    terms.delete(term);
  }
}

/** Returns the term of a word, and those of its parts. */
function termsOfWord(word: string, language: Language): readonly [string, ...string[]] {
  const term = stemIn(language, word);
  const parts = partsOf(word);
  if (parts.length === 0) return [term];
  return [term, ...parts.flatMap((part) => termsOfWord(part, language)).filter((each) => each !== term)];
}

/** Returns the folded words of a text with their frequencies. */
export function countWords(text: string): Map<string, number> {
  const words = new Map<string, number>();
  addWords(words, text);
  return words;
}

const firstHangul = 0xac00;
const hangul = /^[\uac00-\ud7a3]{2,}$/;

/** Returns whether a word consists of syllables of Hangul. Its particles have no space before them. */
export function isHangul(word: string): boolean {
  return word.charCodeAt(0) >= firstHangul && hangul.test(word);
}

/** Returns the pairs of neighbouring syllables. */
export function pairsOf(word: string): string[] {
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
}
