/** What must not happen. */
export type FindingKind =
  /** Acknowledged, and not there or not readable. */
  | 'lost'
  /** Acknowledged as deleted, and there again. */
  | 'resurrected'
  /** Other bytes than those that were sent. */
  | 'wrong bytes'
  /** A key with two answers, or a non-idempotent plugin that ran twice. */
  | 'duplicated'
  /** Work that does not end. */
  | 'stuck'
  /** An effect without a request, or an inconsistent store. */
  | 'inconsistent'
  /** A 5xx without its documented cause, or an answer outside of the error shape. */
  | 'wrong error'
  /** Visible to another project. */
  | 'leaked'
  /** The service does not start, or ends by itself. */
  | 'unavailable';

export interface Finding {
  readonly kind: FindingKind;
  readonly text: string;
  /** What was done to the service. */
  readonly context?: string;
}

/** Collects findings. */
export interface Findings {
  readonly all: readonly Finding[];
  add(kind: FindingKind, text: string): void;
  /** The same collection, for findings that are made after what `context` says. */
  after(context: string): Findings;
}

export function createFindings(): Findings {
  const all: Finding[] = [];
  const collect = (context: { context?: string }): Findings => ({
    all,
    add: (kind, text) => void all.push({ kind, text, ...context }),
    after: (text) => collect({ context: text }),
  });
  return collect({});
}
