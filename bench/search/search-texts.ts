import { pairs } from '../sheets.ts';

/** Numbers of words in the pairs: 58 words together. */
const lengths = { question: 8, answer: 50 };
/** Rows of one sheet, which bounds the memory of this process and of the service. */
const rowsOfSheet = 100_000;
const topics = 15;

export interface Sheet {
  readonly csv: string;
  readonly rows: number;
}

/** Yields sheets that together have `count` pairs. They are the same in every run of this tree. */
export function* searchSheets(count: number, mostRows = rowsOfSheet): Generator<Sheet> {
  let lines: string[] = [];
  const take = (): Sheet => {
    const sheet = { csv: `question,answer\n${lines.join('\n')}\n`, rows: lines.length };
    lines = [];
    return sheet;
  };
  for (const [question, answer] of pairs(count, lengths)) {
    lines.push(`${question},${answer}`);
    if (lines.length === mostRows) yield take();
  }
  if (lines.length > 0) yield take();
}

/** Yields the texts of the chunks, in the order of the sheets. */
export function* searchTexts(count: number): Generator<string> {
  for (const [question, answer] of pairs(count, lengths)) yield `${question} ${answer}`;
}

/** The questions of all engines: "what is a X and Y" for each pair of two lists of words that occur in the texts. */
export function searchQuestions(): readonly string[] {
  const found = [...searchTexts(2000)].join(' ').match(/(?<![\w'-])[a-z]{5,12}(?![\w'-])/g) ?? [];
  const words = [...new Set(found)];
  const at = (place: number) => words[Math.floor((place * words.length) / (2 * topics))] ?? 'index';
  const [first, second] = [0, topics].map((from) => Array.from({ length: topics }, (_, n) => at(from + n)));
  return (first ?? []).flatMap((x) => (second ?? []).map((y) => `what is a ${x} and ${y}`));
}
