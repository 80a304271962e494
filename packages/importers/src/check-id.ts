/** Checks the id of a bundle or plugin before it names a file. @throws Error for an id that no bundle can have */
export function checkId(of: 'bundle' | 'plugin', id: string): void {
  if (/^[a-z][a-z0-9_]{0,63}$/.test(id)) return;
  throw new Error(
    `The id of a ${of} must be a lower-case letter and at most 63 lower-case letters, digits or "_"; received ${JSON.stringify(id.slice(0, 80))}.`,
  );
}
