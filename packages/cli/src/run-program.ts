import { outliveReaders } from './output/outlive-readers.ts';
import { complain, printErrorJson } from './output/print.ts';
import { createProgram } from './program.ts';

outliveReaders(process.argv[2] === 'start');

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  const { describeFailure } = await import('./describe-failure.ts');
  const { message, reason, exitCode, code, requestId } = describeFailure(error);
  if (process.argv.includes('--json'))
    printErrorJson({ error: { code, message: reason ?? message, request_id: requestId } });
  else complain(`quartermaster: ${message}`);
  process.exitCode = exitCode;
}
