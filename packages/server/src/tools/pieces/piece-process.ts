import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import type { PieceTask } from '../execution/pieces/child/piece-task.ts';
import { pieceFailed } from '../execution/pieces/problems.ts';
import { mostMemoryMb, type Sandbox, type SandboxOutcome } from '../execution/sandbox/sandbox.ts';

/** Runs the file of a piece that is not installed, in the sandbox. */
export interface PieceProcess extends AsyncDisposable {
  /**
   * @param send answers the requests of the piece; by default each is refused
   * @throws Problem when the machine has no sandbox
   */
  run(task: PieceTaskWithoutFile, signal: AbortSignal, send?: Send): Promise<SandboxOutcome>;
}

export type PieceTaskWithoutFile = PieceTask extends infer Task
  ? Task extends PieceTask
    ? Omit<Task, 'file'>
    : never
  : never;
type Send = (request: OutboundRequest, signal: AbortSignal) => Promise<OutboundResponse>;

/** The name of the file of a piece in the folder of its bundle. */
export const pieceFile = 'piece.cjs';
const limits = {
  timeoutMs: 20_000,
  memoryMb: mostMemoryMb,
  cpuMs: 10_000,
  maxOutputBytes: 4 * 2 ** 20,
  maxRequests: 20,
} as const;

export async function openPiece(file: Uint8Array, sandbox: Sandbox): Promise<PieceProcess> {
  const { sandbox: tier } = sandbox.capabilities;
  if (!tier.available) throw pieceFailed(`Pieces run in a sandbox only, and ${tier.missing}.`);
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-piece-'));
  // The child has a user of its own.
  await chmod(folder, 0o755);
  await writeFile(join(folder, pieceFile), file, { mode: 0o644 });
  const piece = { credentialsDigest: randomUUID() };
  return {
    run: (input, signal, send = async () => Promise.reject(new Error('The piece may not send requests now.'))) =>
      sandbox.run(
        {
          bundleId: 'piece',
          bundleFolder: folder,
          handlerPath: pieceFile,
          isolation: 'sandbox',
          piece,
          limits,
          input: { ...input },
          onFetch: send,
          onLog: () => {},
          onProgress: () => {},
        },
        signal,
      ),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
