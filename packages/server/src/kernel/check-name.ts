import { fieldInvalid } from './problem.ts';

/**
 * Names are shown to people, in terminals too: they hold nothing that such would act on, and something to see.
 * @throws REQUEST_VALIDATION_ERROR.
 */
export function checkName(name: string, longest: number): void {
  const expected = `1 to ${longest} characters without control characters`;
  if (name.trim() === '' || name.length > longest) {
    throw fieldInvalid('body/name', name.trim() === '' ? 'nothing to see' : `${name.length} characters`, expected);
  }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) throw fieldInvalid('body/name', 'a control character', expected);
}
