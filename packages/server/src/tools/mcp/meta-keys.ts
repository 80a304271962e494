/**
 * The service's members of `_meta`. The specification recommends a prefix and allows prefixes without a domain; the service uses
 * `quartermaster/`. Source: docs/guides/mcp.md.
 */
export const metaKeys = {
  /** Request: the credentials of this call, by name, or by bundle id and name. */
  credentials: 'quartermaster/credentials',
  /** Request: the same as the header `Idempotency-Key` of `POST /v1/execute`. */
  idempotencyKey: 'quartermaster/idempotency-key',
  /** Tool: the plugin that it runs. */
  plugin: 'quartermaster/plugin',
  /** Result: `run_id` and `duration_ms`. */
  run: 'quartermaster/run',
  /** Result of a failure: `code`, `message` and `details`, as in the error of `POST /v1/execute`. */
  error: 'quartermaster/error',
  /** Result whose output violates its schema: the violations. */
  outputViolations: 'quartermaster/output-violations',
  /** Result of a knowledge tool or of `search_tools`: the names of arguments that it does not have. */
  ignoredArguments: 'quartermaster/ignored-arguments',
  /** Content of a resource: the page of the console that shows it. */
  consoleUrl: 'quartermaster/console-url',
} as const;
