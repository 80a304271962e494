#!/usr/bin/env node
import { describeFailure } from './describe-failure.ts';
import { createProgram } from './program.ts';

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  console.error(`quartermaster: ${describeFailure(error)}`);
  process.exitCode = 1;
}
