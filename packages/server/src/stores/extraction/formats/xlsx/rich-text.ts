import { markText, type RunLook } from '../raised-text.ts';
import type { Attributes } from './xml-events.ts';

const plain: RunLook = { raised: false, struck: false };

/** A string of a workbook: its runs joined, raised and struck ones with their marks. Pronunciation hints are left out. */
export interface RichText {
  open(name: string, attributes: Attributes): void;
  text(piece: string): void;
  close(name: string): void;
  /** Returns the string and starts the next one. */
  take(): string;
}

/** Source: ECMA-376 part 1, 18.4. */
export function createRichText(): RichText {
  let text = '';
  let run = '';
  let look = plain;
  let [inText, inPhonetic] = [false, false];
  function endRun(): void {
    if (run === '' && look === plain) return;
    text += markText(text.slice(-20), run, look);
    run = '';
    look = plain;
  }
  return {
    open: (name, { val }) => {
      if (name === 'rPh') inPhonetic = true;
      else if (name === 't') inText = !inPhonetic;
      else if (name === 'vertAlign') look = { ...look, raised: val === 'superscript' };
      else if (name === 'strike') look = { ...look, struck: val !== '0' && val !== 'false' };
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
      const taken = text;
      text = '';
      return taken;
    },
  };
}
