import { goodScore, goodScoreOf, matchScore } from '@quartermaster/contract';
import { detectLanguage } from '../../search/analysis/languages.ts';
import { analyseQuestion } from '../../search/analysis/question-terms.ts';

/** Only these numbers and names of a question are looked for, in the texts of these results. */
const most = { marks: 20, texts: 10 } as const;
/** The share of its score that a question has if no result, or not the best one, contains a number or name of it. Measured: ADR 0130. */
const missingShares = { all: 0.45, best: 0.75 } as const;
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
  /** The texts of the first results, best first. */
  readonly texts: readonly string[];
  /** Whether only the words of the question were compared. */
  readonly isByWords: boolean;
}

/** Whether the results of a question probably contain its answer. */
export function isGoodMatch({ text, folded, scores, texts, isByWords }: MatchedQuestion): boolean {
  // No other chunk has any of the words.
  const isAlone = isByWords && scores.length === 1;
  const score = matchScore(isAlone ? [...scores, 0] : scores);
  const least = isByWords ? leastByWords(folded) : goodScore;
  if (score < least) return false;
  if (score * missingShares.all >= least) return true;
  const [best = '', ...others] = texts.slice(0, most.texts).map(fold);
  const missing = marksOf(text, folded).filter((mark) => !best.includes(mark));
  const isSomewhere = missing.every((mark) => others.some((each) => each.includes(mark)));
  return missing.length === 0 || (isSomewhere && score * missingShares.best >= least);
}

/** Key words without a stop word look for any chunk that has them. */
function leastByWords(folded: readonly string[]): number {
  const words = analyseQuestion(folded, []).filter(({ isOptional }) => !isOptional);
  const least = goodScoreOf(words.reduce((sum, { factor }) => sum + factor, 0));
  return words.some(({ isStop }) => isStop) ? least : Math.min(least, goodScore);
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
