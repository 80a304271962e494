import { Problem } from '../../../platform/problem.ts';

/** The file holds no piece that can be used. @param reason a clause without a full stop */
export function pieceRefused(reason: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `The piece was not accepted: ${reason}. Choose another version.`);
}

/** The process of the piece did not answer as it must. @param reason a sentence */
export function pieceFailed(reason: string): Problem {
  return new Problem('PLUGIN_FAILED', `The piece cannot be used: ${reason}`);
}
