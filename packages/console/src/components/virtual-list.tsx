import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import classes from './virtual-list.module.css';

export interface VirtualListProps<T> {
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  readonly label: string;
  /** Height of a row in pixels. */
  readonly rowHeight: number;
  /** Called when the last row becomes visible. */
  readonly onEnd?: (() => void) | undefined;
  readonly children: (item: T, index: number) => ReactNode;
}

/** A list of any length that renders only the visible rows. */
export function VirtualList<T>({ items, idOf, label, rowHeight, onEnd, children }: VirtualListProps<T>) {
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
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= items.length - 20) onEnd?.();
  }, [last, items.length, onEnd]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label={label}>
      <ul className={classes.rows} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, key, start }) => {
          const item = items[index];
          return item === undefined ? null : (
            <li key={key} className={classes.row} style={{ height: rowHeight, transform: `translateY(${start}px)` }}>
              {children(item, index)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
