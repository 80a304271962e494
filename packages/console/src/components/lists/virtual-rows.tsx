import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import classes from './virtual-rows.module.css';

export interface VirtualRowsProps<T> {
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly label: string;
  /** Height of a row in pixels. Where texts of an item of a list wrap, it is higher. */
  readonly rowHeight: number;
  /** Called when the last row becomes visible. */
  readonly onEnd?: (() => void) | undefined;
  /** The `th` elements of a table. Without them, the rows are a list. */
  readonly head?: ReactNode;
  /** Returns the content of an item of a list, or the `tr` element of a row of a table. */
  readonly children: (item: T) => ReactNode;
}

/** A list or a table of any length that renders only the visible rows. Empty room stands for the others. */
export function VirtualRows<T>({ items, idOf, label, rowHeight, onEnd, head, children }: VirtualRowsProps<T>) {
  const scroller = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : idOf(item);
    },
    overscan: 12,
  });
  const places = rows.getVirtualItems();
  const last = places.at(-1);
  const isNearEnd = (last?.index ?? -1) >= items.length - 20;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd]);
  const shown = places.flatMap(({ index }) => {
    const item = items[index];
    return item === undefined ? [] : [{ item, index }];
  });
  const before = places[0]?.start ?? 0;
  const after = rows.getTotalSize() - (last?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label={label}>
      {head === undefined ? (
        <ul className={classes.list} style={{ paddingBlock: `${before}px ${after}px` }}>
          {shown.map(({ item, index }) => (
            <li key={idOf(item)} ref={rows.measureElement} data-index={index} style={{ minHeight: rowHeight }}>
              {children(item)}
            </li>
          ))}
        </ul>
      ) : (
        <table className={classes.table} aria-label={label} aria-rowcount={items.length + 1}>
          <thead>
            <tr>{head}</tr>
          </thead>
          <tbody>
            {before > 0 ? <tr style={{ height: before }} /> : null}
            {shown.map(({ item }) => children(item))}
            {after > 0 ? <tr style={{ height: after }} /> : null}
          </tbody>
        </table>
      )}
    </section>
  );
}
