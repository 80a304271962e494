import { type Language, languageOf, namedLanguages, stemIn } from './languages.ts';
import { languageTerm } from './term-kinds.ts';
import { addWords } from './tokenizer.ts';

/**
 * Returns the terms of a text for the index with their frequencies, from its folded words and theirs. A word is indexed by its
 * stem in the language of the text, and not by itself. A word of Hangul is indexed by the pairs of its syllables. A further term
 * names the language, unless it is English or unknown.
 * @param language by default that of the text
 */
export function toTermFrequencies(
  words: ReadonlyMap<string, number>,
  language: Language = languageOf(words),
): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string, times: number) => void terms.set(term, (terms.get(term) ?? 0) + times);
  for (const [word, times] of words) {
    if (isHangul(word)) for (const pair of pairsOf(word)) add(pair, times);
    else add(stemIn(language, word), times);
  }
  if (namedLanguages.includes(language) && terms.size > 0) terms.set(languageTerm(language), 1);
  return terms;
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
