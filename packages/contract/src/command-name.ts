/**
 * How the user of this installation runs the command line. A clone runs the TypeScript sources through npm; a package
 * contains compiled modules and installs the command `quartermaster`. Messages that name a command begin with it.
 */
export const commandName = import.meta.url.endsWith('.ts') ? 'npm run quartermaster --' : 'quartermaster';
