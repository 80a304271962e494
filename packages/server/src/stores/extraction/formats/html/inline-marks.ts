import { raisedText, struckText } from '../raised-text.ts';

type Attributes = Readonly<Record<string, string>>;

/** Elements within a paragraph that change how their text is written: raised and struck text, ruby, links to a heading. */
export interface InlineMarks {
  /** @param text the pieces of the current block */
  open(name: string, attributes: Attributes, text: readonly string[]): void;
  close(name: string, text: string[]): void;
  /** Adds a piece of text to the pieces. */
  add(piece: string, text: string[]): void;
  /** Forgets the elements that are open, because their block has ended. */
  endBlock(): void;
}

const permalinks = new Set(['¶', '§', '#', '🔗', '\uf0c1']);
/** The characters before a raised text that decide how it is written. */
const piecesBefore = 6;

export function createInlineMarks(): InlineMarks {
  /** For each open link within the page, the number of pieces of text before it; -1 for other links. */
  const links: number[] = [];
  const raised: number[] = [];
  let [struck, reading] = [0, -1];
  let readings: string[] = [];

  function closeRaised(text: string[]): void {
    const from = raised.pop() ?? -1;
    if (from === -1) return;
    const piece = text.splice(from).join('');
    text.push(raisedText(text.slice(-piecesBefore).join(''), piece));
  }

  /** The readings follow all characters of a word, which would not be found otherwise. */
  function closeRuby(text: string[]): void {
    const all = readings.filter((each) => each !== '');
    if (all.length > 0) text.push(`(${all.join(/[a-z]/i.test(all[0] ?? '') ? ' ' : '')})`);
    readings = [];
  }

  /** The sign that links to a heading is not a part of it. */
  function closeLink(text: string[]): void {
    const from = links.pop() ?? -1;
    if (from !== -1 && permalinks.has(text.slice(from).join('').trim())) text.length = from;
  }

  return {
    open: (name, attributes, text) => {
      if (name === 'a') links.push(attributes.href?.startsWith('#') === true ? text.length : -1);
      else if (name === 'sup') raised.push(text.length);
      else if (struckOut.has(name)) struck += 1;
      else if (name === 'rt') reading = text.length;
    },
    close: (name, text) => {
      if (name === 'a') closeLink(text);
      else if (name === 'sup') closeRaised(text);
      else if (struckOut.has(name)) struck -= 1;
      else if (name === 'ruby') closeRuby(text);
      else if (name === 'rt' && reading !== -1) {
        readings.push(text.splice(reading).join('').trim());
        reading = -1;
      }
    },
    add: (piece, text) => {
      if (struck <= 0) text.push(piece);
      else {
        const before = text.at(-1) ?? '';
        const joined = piece.trim() === '' ? null : /~~( ?)$/.exec(before);
        if (joined !== null) text[text.length - 1] = before.slice(0, joined.index) + joined[1];
        text.push(joined === null ? struckText(piece) : struckText(piece).replace('~~', ''));
      }
    },
    endBlock: () => {
      if (raised.length > 0) raised.fill(-1);
      if (links.length > 0) links.fill(-1);
      reading = -1;
    },
  };
}

const struckOut = new Set(['del', 's', 'strike']);

/** The label of an item and check boxes, without a text. */
export const isOnlyMarks = /^-?(?: ?\[[ x]\])*$/;
