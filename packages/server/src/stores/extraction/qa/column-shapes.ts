import type { SheetRow } from './sheet.ts';

/** What the values of a column look like. */
export interface ColumnShape {
  readonly index: number;
  readonly count: number;
  /** At least half of the rows have a value with a letter. */
  readonly isText: boolean;
  /** The share of the values that are questions by their marks. */
  readonly questions: number;
  /** The share of the values that differ from each other. */
  readonly distinct: number;
  /** The mean length of the values in Latin letters: a sign of scripts such as Han counts as two. */
  readonly length: number;
}

const longestLooked = 2_000;

export function shapesOf(rows: readonly SheetRow[], most: number): ColumnShape[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
  return Array.from({ length: Math.min(width, most) }, (_, index) => shapeOf(rows, index));
}

export function shapeOf(rows: readonly SheetRow[], index: number): ColumnShape {
  const values = rows.map(({ cells }) => cells[index]?.trim().slice(0, longestLooked) ?? '');
  const filled = values.filter((value) => value !== '');
  const count = Math.max(1, filled.length);
  return {
    index,
    count: filled.length,
    isText: filled.filter((value) => isText(value)).length * 2 >= Math.max(1, rows.length),
    questions: filled.filter(isQuestion).length / count,
    distinct: new Set(filled).size / count,
    length: filled.reduce((sum, value) => sum + widthOf(value), 0) / count,
  };
}

/** Numbers, dates, addresses and codes such as `0x3f` are no text. */
function isText(value: string): boolean {
  return /\p{L}/u.test(value) && !/^https?:\/\/\S+$/.test(value) && !/^(?=\D*\d)[\x21-\x7e]+$/.test(value);
}

/** Chinese and Japanese questions often end in a word instead of a mark. */
export function isQuestion(value: string): boolean {
  return value.startsWith('¿') || /(?:[?？؟\u037e]["'”’»」）)]*|[吗嗎呢]|か。?)$/.test(value.slice(-8));
}

function widthOf(value: string): number {
  const wide = value.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0;
  return value.length + wide;
}

/** Questions and answers repeat less than categories do. */
const fewestDistinct = 0.3;

/** Fewer rows say nothing about a column. */
const fewestRows = 3;

/** Answers with fewer letters are states, such as OK. */
const shortest = 4;

/** Whether the values contradict names that say little: one of the columns is no text, or repeats or hardly has letters. */
export function contradicts(rows: readonly SheetRow[], { question, answer }: Columns): boolean {
  if (rows.length < fewestRows) return false;
  const [asked, answered] = [shapeOf(rows, question), shapeOf(rows, answer)];
  const isNoQuestion = asked.count > 1 && (!asked.isText || asked.distinct < fewestDistinct || asked.length < 2);
  const isState = answered.length < shortest && !asks(asked);
  return isNoQuestion || (answered.count > 0 && (!answered.isText || isState));
}

/** Returns the candidate column with the longest texts, if they are clearly longer than the texts of the other column. */
export function longerThan(column: number, some: readonly number[], rows: readonly SheetRow[]): number | undefined {
  const texts = some.map((index) => shapeOf(rows, index)).filter(({ isText: holdsText }) => holdsText);
  const [longest] = texts.toSorted((a, b) => b.length - a.length);
  const isLonger = longest !== undefined && longest.length >= leastLonger * shapeOf(rows, column).length;
  return isLonger && longest.index !== column ? longest.index : undefined;
}
const leastLonger = 1.2;

/** Whether the values are questions by their marks. */
export function asksBelow(rows: readonly SheetRow[], index: number): boolean {
  return asks(shapeOf(rows, index));
}

function asks({ questions }: ColumnShape): boolean {
  return questions >= 0.6;
}

/** Whether the sheet is a quiz, whose answer is one of several columns, or the letter of one. */
export function isQuiz(names: readonly string[], rows: readonly SheetRow[], { answer }: Columns): boolean {
  const isNamed = (letter: string) => names.some((name) => name.trim().toLowerCase() === letter);
  if (names[answer]?.trim().toLowerCase() === 'a' && isNamed('b')) return true;
  const answered = rows.filter(({ cells }) => cells[answer]?.trim());
  const isLetter = ({ cells }: SheetRow) =>
    /^[a-h]$/i.test(cells[answer]?.trim() ?? '') && cells.filter((cell) => cell.trim()).length >= fewestOfQuiz;
  return answered.length > 1 && answered.every(isLetter);
}
/** A question, two choices and the letter of the right one. */
const fewestOfQuiz = 4;

interface Columns {
  readonly question: number;
  readonly answer: number;
}

/** The columns of questions and answers by their values. `question` and `answer` are those that are named. */
interface Named {
  readonly question: number | undefined;
  readonly answer: number | undefined;
}

/**
 * Finds the one column of questions and the one column of long text beside it. Null when the values do not say it plainly,
 * such as those of a quiz with several columns of answers.
 */
export function columnsByShape(rows: readonly SheetRow[], named: Named): Columns | null {
  if (rows.length < fewestRows) return null;
  const shapes = shapesOf(rows, mostColumns);
  const texts = shapes.filter(({ isText: holdsText, count }) => holdsText && count >= rows.length * 0.8);
  const asking = texts.filter((shape) => asks(shape) && shape.distinct >= 0.8);
  const [question, second] =
    named.question === undefined ? asking : asking.filter((one) => one.index === named.question);
  if (question === undefined || second !== undefined) return null;
  const others = texts.filter(({ index }) => index !== question.index).toSorted((a, b) => b.length - a.length);
  const answer = named.answer === undefined ? others[0] : others.find(({ index }) => index === named.answer);
  if (answer === undefined || answer.questions > 0.3 || answer.distinct < 0.5 || answer.length < fewestLetters)
    return null;
  const rival = others.find(({ index }) => index !== answer.index);
  if (named.answer === undefined && rival !== undefined && rival.length * 1.5 > answer.length) return null;
  return { question: question.index, answer: answer.index };
}

const mostColumns = 40;
/** The mean length from which a column holds answers rather than names or choices. */
const fewestLetters = 15;

export const longestHeaderName = 60;

/** Whether the cells of a row are names: short, different from each other, and neither numbers nor sentences. */
export function isHeaderLike({ cells }: SheetRow): boolean {
  const names = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const isName = (name: string) =>
    name.length <= longestHeaderName && !/[?？؟!！.。]$/.test(name) && /\p{L}/u.test(name);
  return names.length > 1 && names.every(isName) && new Set(names).size === names.length;
}
