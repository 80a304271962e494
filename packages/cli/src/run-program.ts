import { handleClosedOutput } from './output/handle-closed-output.ts';
import { printError, printErrorJson } from './output/print.ts';
import { createProgram } from './program.ts';

handleClosedOutput(process.argv[2] === 'start');

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  const { describeFailure } = await import('./describe-failure.ts');
  const { message, reason, exitCode, code, details, requestId } = describeFailure(error);
  if (process.argv.includes('--json'))
    printErrorJson({ error: { code, message: reason ?? message, details, request_id: requestId } });
  else printError(`quartermaster: ${message}`);
  process.exitCode = exitCode;
}
