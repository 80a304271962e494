const codes: ReadonlySet<unknown> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_ROWID',
  // unique_violation, PostgreSQL manual, appendix A
  '23505',
]);

/** Returns whether a statement failed in either database because a row with the same unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code);
}
