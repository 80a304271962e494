import { sql } from 'kysely';

const texts = ['content', 'question', 'answer', 'metadata', 'locator', 'scan_boxes'] as const;

/** The bytes of a chunk that count in the quota of its project. */
export const bytesOfChunk = sql<number>`(${sql.join(
  texts.map((column) => sql`coalesce(octet_length(${sql.ref(`chunk.${column}`)}), 0)`),
  sql` + `,
)})`;
