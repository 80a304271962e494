import { unpackedLimit } from '../../extraction-error.ts';
import type { JsonValue } from './json-values.ts';

/**
 * A document may repeat its names for each value. These bound the repeated characters: a constant, plus a number for each
 * character of the text of the document.
 */
export const jsonLabelLimits = { characters: 4 * 2 ** 20, perCharacter: 16 } as const;

/** @param itemAt the position of an index that is left out */
export type LabelOf = (path: JsonValue['path'], itemAt: number) => string;

/**
 * Creates a function that returns names such as `authors[2].name` for the values of one document, in their order. The
 * simple values of a list share the name of the list, which is built once.
 * @param length the characters of the document
 */
export function createLabels(length: number): LabelOf {
  const most = jsonLabelLimits.characters + jsonLabelLimits.perCharacter * length;
  let characters = 0;
  let last = { length: 0, index: -1, label: '' };
  return (path, itemAt) => {
    const index = path.at(-1);
    if (typeof index !== 'number') last = { length: 0, index: -1, label: buildLabel(path, itemAt, path.length) };
    else if (index > 0 && path.length === last.length && index === last.index + 1) {
      // The value before this one belongs to the same list.
      last = { ...last, index };
      return last.label;
    } else last = { length: path.length, index, label: buildLabel(path, itemAt, path.length - 1) };
    characters += last.label.length;
    if (characters > most)
      throw unpackedLimit(`the names of its values, repeated for each of them, take more than ${most} characters`);
    return last.label;
  };
}

function buildLabel(path: JsonValue['path'], itemAt: number, end: number): string {
  let label = '';
  for (let at = 0; at < end; at += 1) {
    const part = path[at] ?? '';
    if (at === itemAt) continue;
    label += typeof part === 'number' ? `[${part + 1}]` : label === '' ? part : `.${part}`;
  }
  return label;
}
