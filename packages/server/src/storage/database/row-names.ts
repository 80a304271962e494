/** `created_at` as `createdAt`. */
type FieldName<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<FieldName<Tail>>}`
  : Column;

/** `createdAt` as `created_at`. */
type ColumnName<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : Field;

/** Returns the values of a row under the names of fields. It keeps every column, so the row must have only columns of the object. */
export function fromRow<Row extends object>(row: Row) {
  const fields = Object.entries(row).map(([name, value]) => [
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(fields) as { [Column in keyof Row & string as FieldName<Column>]: Row[Column] };
}

/** Returns the values of an object under the names of columns. It keeps every field, so the table must have a column for each. */
export function toRow<Fields extends object>(object: Fields) {
  const columns = Object.entries(object).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(columns) as {
    -readonly [Field in keyof Fields & string as ColumnName<Field>]: Fields[Field];
  };
}
