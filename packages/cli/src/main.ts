#!/usr/bin/env node
import { ApiError } from '@quartermaster/client';
import { createProgram } from './program.ts';

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  const message = error instanceof ApiError ? `${error.code}: ${error.message}` : (error as Error).message;
  console.error(`quartermaster: ${message}`);
  process.exitCode = 1;
}
