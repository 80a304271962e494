import { registerHooks } from 'node:module';

/** The only module of the server that the definitions of commands load. It imports nothing. */
const environment = '/packages/server/src/app/settings/environment.ts';

let count = 0;

/** Preloaded into a command (`--import`), it refuses the modules of the server and prints the number of loaded files on standard error. */
registerHooks({
  load(url, context, next) {
    if (url.includes('/packages/server/') && !url.endsWith(environment)) throw new Error(`A command loads ${url}.`);
    if (url.startsWith('file:')) count += 1;
    return next(url, context);
  },
});

process.on('exit', () => process.stderr.write(`${count} files loaded\n`));
