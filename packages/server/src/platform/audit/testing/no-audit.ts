import type { Audit } from '../audit.ts';

/** Stores nothing. */
export const noAudit: Audit = { record: async () => {}, recordRefusal: () => {} };
