const codes: ReadonlySet<unknown> = new Set([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_ROWID',
  // unique_violation, PostgreSQL manual, appendix A
  '23505',
]);

/** Whether a statement failed because a row with the same unique value is there already, in either database. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code);
}
