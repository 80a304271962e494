export interface JoinedLine {
  readonly text: string;
  /** The file marks a hyphen after the line that only breaks the word. */
  readonly hyphen: boolean;
}

/** Joins the lines of a paragraph, and decides what a hyphen at the end of a line means. */
export interface LineJoiner {
  join(lines: readonly JoinedLine[]): string;
}

const cjk = /[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
const word = /[\p{L}\p{N}]+(?:[-\u2010\u2011][\p{L}\p{N}]+)*/gu;
// Both patterns are anchored at the end and match backwards. Other starts would take quadratic time.
const broken = /$(?<=([\p{L}\p{N}]+(?:[-\u2010\u2011][\p{L}\p{N}]+)*)[-\u2010\u2011])/u;
const lastWord = /$(?<=([\p{L}\p{N}]+))/u;
const hyphens = '-\u2010\u2011';
/** The number of preceding characters examined. A paragraph may be long, and each line is joined to all before it. */
const looksBack = 200;
const mostWords = 200_000;

/** Decides by the words of the whole document: a hyphen stays when the hyphenated word occurs elsewhere. */
export function createLineJoiner(texts: Iterable<string>): LineJoiner {
  // The words are collected on demand, because many documents break no word.
  let read: ReadonlySet<string> | undefined;
  const has = (text: string) => {
    read ??= wordsOf(texts);
    return read.has(plain(text));
  };
  /**
   * Returns the text between two lines; null removes the hyphen of the first. `near` is the end of the preceding text.
   */
  function between(near: string, after: string, hyphen: boolean): string | null {
    const last = near.at(-1) ?? '';
    if (hyphen || hyphens.includes(last)) {
      const end = /^[\p{L}\p{N}]+/u.exec(after)?.[0];
      if (hyphen) {
        const open = lastWord.exec(near)?.[1] ?? '';
        const [isApart, isWhole] = [has(`${open}-${end}`), has(`${open}${end}`)];
        return (isBroken(open, end ?? '') ? isApart && !isWhole : isApart || !isWhole) ? '-' : '';
      }
      const start = broken.exec(near)?.[1];
      if (start !== undefined && end !== undefined) return has(start + end) && !has(`${start}-${end}`) ? null : '';
    }
    return cjk.test(last) && cjk.test(after.charAt(0)) ? '' : ' ';
  }

  return {
    join: (lines) => {
      const [first, ...others] = lines;
      let text = first?.text ?? '';
      // Reading the end of the whole text would flatten the string for each line.
      let near = text.slice(-looksBack);
      let { hyphen } = first ?? { hyphen: false };
      for (const line of others) {
        const put = between(near, line.text, hyphen);
        text = put === null ? text.slice(0, -1) + line.text : text + put + line.text;
        near = ((put === null ? near.slice(0, -1) : near + put) + line.text).slice(-looksBack);
        hyphen = line.hyphen;
      }
      return text;
    },
  };
}

/**
 * Whether a hyphen between the two may only break a word. No language breaks a word behind its first letter or beside a digit, and a capital
 * begins another word, unless all letters are capitals.
 */
function isBroken(open: string, end: string): boolean {
  if (open.length === 1 || /\p{N}$/u.test(open) || /^\p{N}/u.test(end)) return false;
  return !/^\p{Lu}/u.test(end) || (open === open.toUpperCase() && /^\P{Ll}+$/u.test(end));
}

function wordsOf(texts: Iterable<string>): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [found] of text.matchAll(word)) if (words.size < mostWords) words.add(plain(found));
  }
  return words;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[\u2010\u2011]/g, '-');
}
