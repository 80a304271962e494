import classes from './sort-head.module.css';

export interface SortHeadProps<C extends string> {
  readonly column: C;
  readonly label: string;
  readonly isNumber?: boolean;
  readonly className?: string | undefined;
  /** The column that sorts the table, with `-` before it for the descending order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

/** The head of a column, whose button sorts the table. Pressed again, it reverses the order. */
export function SortHead<C extends string>({ column, label, isNumber, className, sort, onSort }: SortHeadProps<C>) {
  const isDown = sort === `-${column}`;
  const isUp = sort === column;
  const order = isUp ? 'ascending' : isDown ? 'descending' : 'none';
  // Numbers and dates begin with the largest.
  const next = isNumber === true ? (isDown ? column : `-${column}`) : isUp ? `-${column}` : column;
  return (
    <th scope="col" aria-sort={order} className={className}>
      <button type="button" className={classes.sort} data-number={isNumber || undefined} onClick={() => onSort(next)}>
        {label}
        <span aria-hidden="true" className={classes.arrow}>
          {isUp ? '↑' : isDown ? '↓' : ''}
        </span>
      </button>
    </th>
  );
}
