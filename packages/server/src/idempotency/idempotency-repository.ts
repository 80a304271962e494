/** Which request: a key means something only within its project and operation. */
export interface RequestKey {
  readonly projectId: string;
  readonly operation: IdempotentOperation;
  readonly key: string;
  /** The API key or administrator that sends the request, not part of the key; empty without one. */
  readonly callerId: string;
}
export type IdempotentOperation = 'upload' | 'execute';

/** The right to run a request. Its end is its fence: who takes the key over later gets a later end. */
export interface HeldClaim extends RequestKey {
  readonly heldUntil: number;
}

/** What is kept of a request that is done. Stored by `complete`, or together with the effect in one transaction. */
export interface CompletedClaim extends HeldClaim {
  readonly fingerprint: string;
  /** JSON. */
  readonly answer: string;
  /** JSON, stored by `complete` in place of an answer for which the project has no bytes left. Undefined: the answer is always stored. */
  readonly insteadOfAnswer?: string;
  /** When it is forgotten. */
  readonly expiresAt: number;
}

export type ClaimOutcome = { readonly kind: 'claimed' } | { readonly kind: 'running' } | { readonly kind: 'answered' };

export type Comparison =
  | { readonly kind: 'same'; readonly answer: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'closed' }
  /** The answer is no longer kept. */
  | { readonly kind: 'forgotten' };

/** Remembered requests. Atomic between processes. */
export interface IdempotencyRepository {
  /** Takes the key when nobody holds it, its holder's time is over, or its answer is forgotten. */
  claim(claim: HeldClaim, now: number): Promise<ClaimOutcome>;
  /**
   * Gives the kept answer if its fingerprint is one of these; counts the request as wrong if it is not. Atomic: after `most` wrong
   * requests of the caller that made the first request, or of all others together, no further one is compared.
   */
  compare(request: RequestKey, fingerprints: readonly string[], most: number): Promise<Comparison>;
  /** False when the claim is no longer ours. */
  renew(claim: HeldClaim, heldUntil: number): Promise<boolean>;
  /** Keeps the answer, or `insteadOfAnswer`. False when the claim is no longer ours. */
  complete(claim: CompletedClaim): Promise<boolean>;
  /** Forgets a claim that came to nothing, so that the request may be sent again. */
  release(claim: HeldClaim): Promise<void>;
  /** Forgets what is over. Gives how many. */
  sweep(now: number): Promise<number>;
}
