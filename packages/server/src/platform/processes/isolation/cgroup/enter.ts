/**
 * Returns a command line that enters the control groups before it starts the program. A shell writes to the inherited
 * descriptors, closes them and executes the program. The server opened the descriptors and the kernel checks the
 * server's permission, so the shell may run as another user. Without the groups, the program does not start.
 * @param descriptors numbers in the child, below ten
 */
export function enterBefore(command: readonly string[], descriptors: readonly number[]): string[] {
  const enter = descriptors.map((number) => `echo 0 >&${number} && `).join('');
  const close = descriptors.map((number) => ` ${number}>&-`).join('');
  return ['/bin/sh', '-c', `${enter}exec "$@"${close}`, 'sh', ...command];
}
