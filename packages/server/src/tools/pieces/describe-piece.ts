import { checkDescription } from '../execution/pieces/check-description.ts';
import type { PieceDescription } from '../execution/pieces/child/piece-task.ts';
import { pieceFailed, pieceRefused } from '../execution/pieces/problems.ts';
import type { Sandbox, SandboxOutcome } from '../execution/sandbox/sandbox.ts';
import { openPiece } from './piece-process.ts';

/**
 * Describes a piece: its process in the sandbox reads what the piece declares, and the answer is checked here.
 * @param file the unmodified file of the package
 * @throws Problem that says why the piece cannot be used
 */
export async function describePiece(file: Buffer, sandbox: Sandbox, signal: AbortSignal): Promise<PieceDescription> {
  await using piece = await openPiece(file, sandbox);
  return checkDescription(readAnswer(await piece.run({ mode: 'describe' }, signal)));
}

function readAnswer(outcome: SandboxOutcome): unknown {
  if (outcome.kind === 'returned') return outcome.output;
  // Its length is limited, and only administrators install pieces.
  if (outcome.kind === 'returned_large') return JSON.parse(outcome.json.toString());
  if (outcome.kind === 'failed') throw pieceRefused(outcome.message.replace(/\.$/, ''));
  throw pieceFailed('message' in outcome ? outcome.message : `Its process ended with ${outcome.kind}.`);
}
