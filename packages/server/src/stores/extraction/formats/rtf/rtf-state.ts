import type { Destination } from './rtf-tables.ts';

/** What a group inherits from the group around it. */
export interface State {
  destination: Destination;
  /** Whether the next control word may name the destination of the group, and whether `\*` has come before. */
  opening: boolean;
  starred: boolean;
  /** Whether the group is a note or a box. */
  hasStory: boolean;
  font: number | undefined;
  /** Characters after `\u` that stand for it in old programs. */
  fallback: number;
  hidden: boolean;
  deleted: boolean;
  raised: boolean;
  struck: boolean;
  /** The number of the colour. */
  color: number | undefined;
  /** In half points. */
  size: number | undefined;
  /** Whether another colour lies behind it. */
  isBacked: boolean;
  inTable: boolean;
  /** The level of a heading, from 0. */
  outline: number | undefined;
  style: number | undefined;
}

/** What `\plain` resets. */
export const unmarked = {
  hidden: false,
  deleted: false,
  raised: false,
  struck: false,
  color: undefined,
  size: undefined,
  isBacked: false,
};

export const firstState = (): State => ({
  destination: 'text',
  opening: false,
  starred: false,
  hasStory: false,
  font: undefined,
  fallback: 1,
  ...unmarked,
  inTable: false,
  outline: undefined,
  style: undefined,
});
