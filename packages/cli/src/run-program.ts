import { outliveReaders } from './outlive-readers.ts';
import { complain } from './print.ts';
import { createProgram } from './program.ts';

outliveReaders(process.argv[2] === 'start');

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  const { describeFailure } = await import('./describe-failure.ts');
  complain(`quartermaster: ${describeFailure(error)}`);
  process.exitCode = 1;
}
