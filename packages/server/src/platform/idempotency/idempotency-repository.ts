/** Identifies a request: a key is valid only for its project, operation and caller. */
export interface RequestKey {
  /** null for a caller without a key. */
  readonly projectId: string | null;
  readonly operation: IdempotentOperation;
  readonly key: string;
  /** The API key or account that sends the request; empty for a caller without a key. */
  readonly callerId: string;
}
export type IdempotentOperation = 'upload' | 'execute';

/** The right to run a request. `heldUntil` distinguishes it from later claims of the key, which end later. */
export interface HeldClaim extends RequestKey {
  readonly heldUntil: number;
}

export interface NewClaim extends HeldClaim {
  /** The node that runs the request. Without it, only `heldUntil` tells whether the request still runs. */
  readonly nodeId: string | null;
  /** False when running the request twice could have two effects. No other claim then replaces this one. */
  readonly isRepeatable: boolean;
}

/** The stored result of a finished request. `complete` stores it, or the transaction of the effect does. */
export interface CompletedClaim extends HeldClaim {
  readonly fingerprint: string;
  /** JSON. */
  readonly answer: string;
  /**
   * JSON that `complete` stores instead of an answer that exceeds the remaining bytes of the project. Undefined: the
   * answer is always stored.
   */
  readonly insteadOfAnswer?: string;
  /** The time when the answer is deleted. */
  readonly expiresAt: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'answered' }
  /** `elsewhere`: at another node. */
  | { readonly kind: 'running'; readonly elsewhere: boolean }
  /** The process of a request that cannot be repeated has ended, or has failed to store the answer. */
  | { readonly kind: 'unknown' };

export type Comparison =
  | { readonly kind: 'same'; readonly answer: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'closed' }
  /** The answer is no longer stored. */
  | { readonly kind: 'forgotten' };

/** Stores remembered requests. All operations are atomic between processes. */
export interface IdempotencyRepository {
  /**
   * Claims the key when it is free, when its answer was deleted, or when the claim of a repeatable request has expired or its node
   * has ended.
   */
  claim(claim: NewClaim, now: number): Promise<ClaimOutcome>;
  /**
   * Returns the stored answer if its fingerprint is one of these; otherwise counts the request as wrong. Atomic. After
   * `most` wrong requests, no further one is compared.
   */
  compare(request: RequestKey, fingerprints: readonly string[], most: number): Promise<Comparison>;
  /** Returns false when the claim was lost. */
  renew(claim: HeldClaim, heldUntil: number): Promise<boolean>;
  /** Stores the answer or `insteadOfAnswer`. Returns false when the claim was lost. */
  complete(claim: CompletedClaim): Promise<boolean>;
  /** Deletes the claim of a request without effect, so that the request may be repeated. */
  release(claim: HeldClaim): Promise<void>;
  /** Deletes expired claims and answers; claims of requests that cannot be repeated a day later. Returns their number. */
  sweep(now: number): Promise<number>;
}
