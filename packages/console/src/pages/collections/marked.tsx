import { markTerms } from './mark-terms.ts';

/** A text with the query's words highlighted. */
export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  return markTerms(text, words).map((part, index) => {
    const key = `${index}`;
    return part.isMarked ? <mark key={key}>{part.text}</mark> : part.text;
  });
}
