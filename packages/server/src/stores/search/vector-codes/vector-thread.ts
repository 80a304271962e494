import { parentPort } from 'node:worker_threads';
import type { NearVectors } from '../embedding/vector-index.ts';
import type { ThreadRequest } from './open-vector-thread.ts';
import { createVectorCodes, type VectorCodes } from './vector-codes.ts';

/* This thread holds, encodes and compares vectors, so that the event loop does not. It answers requests in their order. */

const spaces = new Map<string, VectorCodes>();

function answer(request: ThreadRequest): NearVectors | undefined {
  if (request.kind === 'drop') spaces.delete(request.space);
  if (request.kind === 'nearest') return spaces.get(request.space)?.nearest(request.query, request.count);
  if (request.kind === 'add') {
    const { space, dimensions, seqs, vectors } = request;
    const codes = spaces.get(space) ?? createVectorCodes(dimensions);
    spaces.set(space, codes);
    const vectorAt = (n: number) => vectors.subarray(n * dimensions, (n + 1) * dimensions);
    codes.add(Array.from(seqs, (seq, n) => ({ seq, vector: vectorAt(n) })));
  }
  return undefined;
}

parentPort?.on('message', (request: ThreadRequest) => parentPort?.postMessage(answer(request)));
