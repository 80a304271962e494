#!/usr/bin/env node
// Replaces Node's listener, which would open the debugger to all users of the machine, before the program is loaded.
process.on('SIGUSR1', () => {});
await import('./run-program.ts');
