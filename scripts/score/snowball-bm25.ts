import { stemmer as stemArabic } from '@orama/stemmers/arabic';
import { stemmer as stemFrench } from '@orama/stemmers/french';
import { stemmer as stemGerman } from '@orama/stemmers/german';
import { stemmer as stemRussian } from '@orama/stemmers/russian';
import { stemmer as stemSpanish } from '@orama/stemmers/spanish';
import stemEnglish from 'wink-porter2-stemmer';
import { foldWords } from '../../packages/server/src/stores/search/analysis/tokenizer.ts';
import type { PassageSet } from './retrieval.ts';

/** Stemmers of Snowball; the other languages have none. */
const stemmers: Readonly<Record<string, (word: string) => string>> = {
  ...{ ar: stemArabic, de: stemGerman, en: stemEnglish, es: stemSpanish, fr: stemFrench, ru: stemRussian },
};
const k1 = 1.2;
const b = 0.75;

/**
 * Returns nDCG@10 of a plain BM25 over the words of the tokenizer, which knows the language of the set and stems its words with
 * Snowball. It scores every passage, and shares nothing with the index but the words. Words of Hangul are pairs of syllables.
 */
export function measureSnowball({ documents, questions, right }: PassageSet, language: string): number {
  const stem = stemmers[language] ?? ((word: string) => word);
  const cut = (text: string) => foldWords(text).flatMap((word) => pairsOfHangul(word) ?? [stem(word) || word]);
  const passages = documents.map(({ _id, text }) => {
    const words = cut(text);
    return { id: _id, length: words.length, counts: countWords(words) };
  });
  const average = passages.reduce((sum, { length }) => sum + length, 0) / passages.length;
  const gains = questions.map(({ _id, text }) => {
    const asked = [...new Set(cut(text))].map((word) => {
      const n = passages.filter(({ counts }) => counts.has(word)).length;
      return { word, idf: Math.log(1 + (passages.length - n + 0.5) / (n + 0.5)) };
    });
    const scored = passages.map(({ id, length, counts }) => {
      const norm = k1 * (1 - b + (b * length) / average);
      const scores = asked.map(({ word, idf }) => {
        const times = counts.get(word) ?? 0;
        return (idf * times * (k1 + 1)) / (times + norm);
      });
      return { id, score: scores.reduce((sum, score) => sum + score, 0) };
    });
    const found = scored.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
    const place = found.slice(0, 10).findIndex(({ id }) => id === right.get(_id));
    return place === -1 ? 0 : 1 / Math.log2(place + 2);
  });
  return gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
}

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function pairsOfHangul(word: string): string[] | undefined {
  if (!/^[\uac00-\ud7a3]{2,}$/.test(word)) return undefined;
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
}
