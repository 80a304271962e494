import type { Block } from '../../document.ts';
import { markText, type RunLook } from '../raised-text.ts';

/** The text of the body, a note or a box. */
export interface Story {
  readonly blocks: Block[];
  /** The text of the paragraph or cell before its last run. */
  text: string;
  /** The text since the look of the text has changed. */
  run: string;
  look: RunLook;
  label: string;
  cells: string[];
  rows: string[][];
  /** What follows the paragraph: notes and boxes. */
  after: Block[];
}

const plain: RunLook = { raised: false, struck: false };

export const newStory = (): Story => ({
  blocks: [],
  text: '',
  run: '',
  look: plain,
  label: '',
  cells: [],
  rows: [],
  after: [],
});

/** Adds text to the paragraph. A raised or struck run gets its marks when it is complete. */
export function appendText(story: Story, text: string, { raised, struck }: RunLook = plain): void {
  if (story.look.raised !== raised || story.look.struck !== struck) {
    endRun(story);
    story.look = { raised, struck };
  }
  story.run += text;
}

/** Returns the text of the paragraph or cell, and starts the next one. */
export function takeText(story: Story): string {
  endRun(story);
  const { text } = story;
  story.text = '';
  return text;
}

/** The characters before a run that decide how it is written. */
const charactersBefore = 20;

function endRun(story: Story): void {
  story.text += markText(story.text.slice(-charactersBefore), story.run, story.look);
  story.run = '';
}
