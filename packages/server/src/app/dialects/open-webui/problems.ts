import { Problem } from '../../../platform/problem.ts';

export function textTooLong({ characters, blocks }: { characters: number; blocks: number }): Problem {
  return new Problem(
    'FILE_TOO_LARGE',
    `The text of the document must have at most ${characters} characters and ${blocks} paragraphs or rows; received more.`,
  );
}

/** The client has disconnected, the service stops, or the system killed the reader. */
export function loadCancelled(): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The document was not read because its reader was ended. Send it again.', {
    retryAfter: 5,
  });
}
