import type { Sandbox } from '../execution/sandbox/sandbox.ts';
import type { ReadPiece } from './installation.ts';
import { packageRefused } from './problems.ts';

export function createReadPiece(_sandbox: () => Promise<Sandbox>): ReadPiece {
  return async () => {
    throw packageRefused('pieces cannot be read yet', 'Wait for the next version.');
  };
}
