/** The kinds of forbidden outcomes. */
export type FindingKind =
  /** Something acknowledged is missing or unreadable. */
  | 'lost'
  /** Something whose deletion was acknowledged exists again. */
  | 'resurrected'
  /** The bytes differ from those that were sent. */
  | 'wrong bytes'
  /** A key has two responses, or a non-idempotent plugin ran twice. */
  | 'duplicated'
  /** Work does not end. */
  | 'stuck'
  /** There is an effect without a request, or the store is inconsistent. */
  | 'inconsistent'
  /** A 5xx lacks its documented cause, or a response does not have the shape of errors. */
  | 'wrong error'
  /** Something is visible to another project. */
  | 'leaked'
  /** The service does not start, or ends unexpectedly. */
  | 'unavailable';

export interface Finding {
  readonly kind: FindingKind;
  readonly text: string;
  /** The actions of the proof before the finding. */
  readonly context?: string;
}

export interface Findings {
  readonly all: readonly Finding[];
  add(kind: FindingKind, text: string): void;
  /** Returns the same collection with this context for the findings added through it. */
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
