import { withoutHiddenCharacters } from '../plain-name.ts';
import { fieldInvalid } from './validation-error.ts';

/**
 * Checks that a name is visible and has no control characters or hidden ones, because terminals and pages show names.
 * @throws REQUEST_VALIDATION_ERROR
 */
export function checkName(name: string, longest: number): void {
  const expected = `1 to ${longest} characters without control or hidden characters`;
  if (name.trim() === '' || name.length > longest) {
    throw fieldInvalid('body/name', name.trim() === '' ? 'a blank name' : `${name.length} characters`, expected);
  }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed() || withoutHiddenCharacters(name) !== name)
    throw fieldInvalid('body/name', 'a name with a control or hidden character', expected);
}
