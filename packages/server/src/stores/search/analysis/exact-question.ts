import { hash } from 'node:crypto';
import { fold } from './fold.ts';
import { markTerm } from './term-kinds.ts';

/** Longer questions have no term, so that the term of a question takes little time. */
const longestQuestion = 1_000;

/** What may stand around a question: blanks, the marks of sentences, quotes and brackets. */
const around = new Set(' ?!.…。？！؟;:,、，"\'`«»‹›“”„‘’()[]（）「」『』');

/** The characters of a digest of 48 bits. */
const digestLength = 8;

/**
 * Returns the term of the chunks whose question is this one. Case, accents, width, blanks, and the marks around the question make no
 * difference. Null for a question that is empty or too long.
 */
export function exactQuestionTerm(question: string): string | null {
  if (question.length > longestQuestion) return null;
  const folded = trimMarks(fold(question).replace(/\s+/g, ' '));
  return folded === '' ? null : markTerm('filter', `q${hash('sha256', folded, 'base64url').slice(0, digestLength)}`);
}

function trimMarks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && around.has(text.charAt(from))) from++;
  while (to > from && around.has(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}
