/**
 * Our members of `_meta`. The specification asks for a prefix and leaves names without a domain to whoever uses them;
 * `quartermaster/` is ours. Source: docs/guides/mcp.md.
 */
export const metaKeys = {
  /** Request: the credentials of this call, name → value, or bundle id → those. */
  credentials: 'quartermaster/credentials',
  /** Request: as the header `Idempotency-Key` of `POST /v1/execute`. */
  idempotencyKey: 'quartermaster/idempotency-key',
  /** Tool: which plugin it is. */
  plugin: 'quartermaster/plugin',
  /** Result: `run_id` and `duration_ms`. */
  run: 'quartermaster/run',
  /** Result of a failure: `code`, `message` and `details`, as the error of `POST /v1/execute`. */
  error: 'quartermaster/error',
  /** Result whose output breaks its schema: where, and how. */
  outputViolations: 'quartermaster/output-violations',
} as const;
