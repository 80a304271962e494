/**
 * The command line of a program that is in its groups before it is anything else: a shell enters by way of descriptors
 * that it was given, closes them and becomes the program. They were opened by the server, and it is the server's right
 * to write there that counts, so that the shell may be another user. It does not become the program outside a group.
 * @param descriptors numbers in the child, below ten
 */
export function enterBefore(command: readonly string[], descriptors: readonly number[]): string[] {
  const enter = descriptors.map((number) => `echo 0 >&${number} && `).join('');
  const close = descriptors.map((number) => ` ${number}>&-`).join('');
  return ['/bin/sh', '-c', `${enter}exec "$@"${close}`, 'sh', ...command];
}
