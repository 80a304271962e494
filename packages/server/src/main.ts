// Replaces Node's listener, which would open the debugger to every user of the machine, before the service is loaded.
process.on('SIGUSR1', () => {});
const { runUntilSignal } = await import('./app/service/run.ts');

await runUntilSignal();
