#!/usr/bin/env node
// Replaces Node's listener, which would open the debugger to all users of the machine, before the program is loaded.
process.on('SIGUSR1', () => {});
// Users cannot act on warnings about experimental parts of Node.js.
const printers = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
});
await import('./run-program.ts');
