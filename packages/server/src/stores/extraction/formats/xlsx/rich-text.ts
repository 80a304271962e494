import { markText, type RunLook } from '../raised-text.ts';
import type { IsPaper } from './cell-styles.ts';
import type { Attributes } from './xml-events.ts';

/** A string of a workbook. */
export interface CellText {
  readonly text: string;
  /** What people see of it on white paper; undefined when its runs have no colours of their own. */
  readonly seen: string | undefined;
}

interface Look extends RunLook {
  /** Undefined for the colour of the cell. */
  readonly white: boolean | undefined;
}
const plain: Look = { raised: false, struck: false, white: undefined };

/** A string of a workbook: its runs joined, raised and struck ones with their marks. Pronunciation hints are left out. */
export interface RichText {
  open(name: string, attributes: Attributes): void;
  text(piece: string): void;
  close(name: string): void;
  /** Returns the string and starts the next one. */
  take(): CellText;
}

/** Source: ECMA-376 part 1, 18.4. */
export function createRichText(isPaper: IsPaper): RichText {
  let text = '';
  let seen = '';
  let isColored = false;
  let run = '';
  let look = plain;
  let [inText, inPhonetic] = [false, false];
  function endRun(): void {
    if (run === '' && look === plain) return;
    const marked = markText(text.slice(-20), run, look);
    text += marked;
    if (look.white !== true) seen += marked;
    isColored ||= look.white !== undefined;
    run = '';
    look = plain;
  }
  return {
    open: (name, attributes) => {
      const { val } = attributes;
      if (name === 'rPh') inPhonetic = true;
      else if (name === 't') inText = !inPhonetic;
      else if (name === 'vertAlign') look = { ...look, raised: val === 'superscript' };
      else if (name === 'strike') look = { ...look, struck: val !== '0' && val !== 'false' };
      else if (name === 'color') look = { ...look, white: isPaper(attributes) };
    },
    text: (piece) => {
      if (inText) run += piece;
    },
    close: (name) => {
      if (name === 't') inText = false;
      else if (name === 'rPh') inPhonetic = false;
      else if (name === 'r') endRun();
    },
    take: () => {
      endRun();
      const taken = { text, seen: isColored ? seen : undefined };
      text = '';
      seen = '';
      isColored = false;
      return taken;
    },
  };
}
