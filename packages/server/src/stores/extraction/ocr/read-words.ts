/** A line that OCR has read. */
export interface ReadLine {
  readonly text: string;
  readonly words: readonly ReadWord[];
}

export interface ReadWord {
  readonly text: string;
  /** Left, top, width and height in pixels of the picture as given, even if the program has turned it to read it. */
  readonly box: readonly [number, number, number, number];
  /** From 0 to 100. */
  readonly confidence: number;
}

export interface ReadPage {
  /** The lines of each paragraph, in reading order. */
  readonly paragraphs: readonly (readonly ReadLine[])[];
  /** The mean confidence of the characters, from 0 to 100. 0 without a word. */
  readonly confidence: number;
  readonly words: number;
}

/** The depth of a word in the table: page, block, paragraph, line, word. */
const wordLevel = '5';
const cjkEdge = /^[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]$/;
/** Marks of the direction of text, which belong to no word. */
const directionMarks = /[\u200e\u200f\u202a-\u202e]/g;

interface Word extends ReadWord {
  readonly paragraph: string;
  readonly line: string;
}

/** Reads the table of words that tesseract prints. Rows that are no words are ignored. */
export function readWords(tsv: string): ReadPage {
  const paragraphs: LineDraft[][] = [];
  let weight = 0;
  let sum = 0;
  let words = 0;
  let above: Word | undefined;
  for (const word of wordsOf(tsv)) {
    words += 1;
    weight += word.text.length;
    sum += word.confidence * word.text.length;
    if (above?.paragraph !== word.paragraph) paragraphs.push([]);
    add(paragraphs.at(-1) ?? [], word, above?.line === word.line ? above : undefined);
    above = word;
  }
  const finished = paragraphs.map((lines) => lines.map(({ parts, words }) => ({ text: parts.join(''), words })));
  return { paragraphs: finished, confidence: weight === 0 ? 0 : sum / weight, words };
}

interface LineDraft {
  readonly parts: string[];
  readonly words: ReadWord[];
}

/** @param above the word before it on the same line */
function add(lines: LineDraft[], word: Word, above: Word | undefined): void {
  const line = lines.at(-1);
  const { text, box, confidence } = word;
  const read = { text, box, confidence };
  if (above === undefined || line === undefined) return void lines.push({ parts: [text], words: [read] });
  line.parts.push(gapBetween(above.text, text), text);
  line.words.push(read);
}

/** Chinese and Japanese have no blanks between words; the program reports words nevertheless. */
function gapBetween(before: string, after: string): string {
  return cjkEdge.test(before.at(-1) ?? '') && cjkEdge.test(after.charAt(0)) ? '' : ' ';
}

function* wordsOf(tsv: string): Generator<Word> {
  for (const row of tsv.split('\n')) {
    const [level, page, block, paragraph, line, , left, top, width, height, confidence, text = ''] = row.split('\t');
    const plain = text.replace(directionMarks, '').trim();
    if (level !== wordLevel || plain === '') continue;
    const box = [left, top, width, height].map((value) => Number(value) || 0) as [number, number, number, number];
    const place = `${page} ${block} ${paragraph}`;
    yield {
      text: plain,
      box,
      confidence: Math.max(0, Number(confidence) || 0),
      paragraph: place,
      line: `${place} ${line}`,
    };
  }
}
