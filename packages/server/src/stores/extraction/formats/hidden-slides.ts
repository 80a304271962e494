import { listed } from './numerals.ts';

/** Returns the warning about slides that were read, but that the show leaves out, if there are any. @param numbers from 1 */
export function describeHiddenSlides(numbers: readonly number[]): string[] {
  if (numbers.length === 0) return [];
  return [`hidden_slides: These slides are hidden in the show: ${listed(numbers)}.`];
}
