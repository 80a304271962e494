import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import classes from './virtual-table.module.css';

export interface VirtualTableProps<T> {
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly label: string;
  /** Height of a row in pixels. */
  readonly rowHeight: number;
  /** Called when the last row becomes visible. */
  readonly onEnd: () => void;
  /** The `th` elements. */
  readonly head: ReactNode;
  /** Returns the `tr` element of an item. */
  readonly children: (item: T) => ReactNode;
}

/** A table of any length that renders only the visible rows. Two empty rows stand for the others. */
export function VirtualTable<T>({ items, idOf, label, rowHeight, onEnd, head, children }: VirtualTableProps<T>) {
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
  const shown = rows.getVirtualItems();
  const last = shown.at(-1);
  const isNearEnd = (last?.index ?? -1) >= items.length - 20;
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, onEnd]);
  const before = shown[0]?.start ?? 0;
  const after = rows.getTotalSize() - (last?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label={label}>
      <table className={classes.table} aria-label={label} aria-rowcount={items.length + 1}>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>
          {before > 0 ? <tr style={{ height: before }} /> : null}
          {shown.map(({ index }) => {
            const item = items[index];
            return item === undefined ? null : children(item);
          })}
          {after > 0 ? <tr style={{ height: after }} /> : null}
        </tbody>
      </table>
    </section>
  );
}
