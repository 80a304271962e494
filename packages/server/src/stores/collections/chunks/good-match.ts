import { goodScore, matchScore } from '@quartermaster/contract';
import { detectLanguage } from '../../search/analysis/languages.ts';

/** Only these numbers and names of a question are looked for, in the texts of these results. */
const most = { marks: 20, texts: 10 } as const;
/** A question with a number or name that no result contains has this share of its score. Measured: docs/reference/questions.md. */
const missingShare = 0.45;
/** Names of this length and longer may have another ending. */
const inflected = 6;
const longestEnding = 2;
const titleShare = 0.75;

/** Letters of scripts with capitals, and digits. */
const wordPattern = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]+/gu;
const sentenceEnd = /[.!?:;¿¡"“”«»„]/;

export interface MatchedQuestion {
  readonly text: string;
  /** The folded words of the text. */
  readonly folded: readonly string[];
  readonly scores: readonly number[];
  /** The texts of the first results. */
  readonly texts: readonly string[];
}

/** Whether the results of a question probably contain its answer. */
export function isGoodMatch({ text, folded, scores, texts }: MatchedQuestion): boolean {
  const score = matchScore(scores);
  if (score < goodScore) return false;
  if (score * missingShare >= goodScore) return true;
  const shown = texts.slice(0, most.texts).map(fold);
  return marksOf(text, folded).every((mark) => shown.some((each) => each.includes(mark)));
}

/** Returns the numbers and the beginnings of the names of a question. German capitalises all nouns, so only its numbers are returned. */
export function marksOf(question: string, folded: readonly string[]): string[] {
  const isGerman = detectLanguage(new Map(folded.map((word) => [word, 1]))) === 'de';
  const numbers: string[] = [];
  const names: string[] = [];
  let [words, capitals, end] = [0, 0, 0];
  for (const { 0: word, index } of question.matchAll(wordPattern)) {
    const isFirst = words === 0 || sentenceEnd.test(question.slice(end, index));
    words += 1;
    end = index + word.length;
    if (/^\p{Lu}/u.test(word) && words > 1) capitals += 1;
    if (/\p{N}/u.test(word)) {
      if (word.length > 1) numbers.push(fold(word));
    } else if (/^\p{Lu}../u.test(word) && !isFirst) {
      names.push(fold(word.length < inflected ? word : word.slice(0, -longestEnding)));
    }
  }
  // Where nearly all words have capitals, they say nothing about names.
  const isTitle = capitals > titleShare * (words - 1);
  return [...numbers, ...(isGerman || isTitle ? [] : names)].slice(0, most.marks);
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
