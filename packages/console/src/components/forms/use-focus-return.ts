import { useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Focuses the heading of the page, from which the keyboard and screen readers continue. */
function focusHeading(): void {
  document.querySelector('h1')?.focus({ preventScroll: true });
}

/** Whether no element has the focus. */
function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Focuses the heading if the button with the focus is removed, for example with the row of its object. */
export function focusHeadingIfLost(): void {
  setTimeout(() => {
    if (isFocusLost()) focusHeading();
  }, 50);
}

/**
 * Returns the focus to the element that had it before, when the component goes away. If that element is gone too, for
 * example the row of a deleted object, the heading of the page gets it.
 */
export function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // The component is removed after this, and a dialog that replaces it takes the focus first.
      setTimeout(() => {
        if (!isFocusLost()) return;
        if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
        if (isFocusLost()) focusHeading();
      }, 50);
    },
    [before],
  );
}

/** A button that is disabled while it works loses the focus. Returns it afterwards, unless the focus has moved on. */
export function useKeptFocus(isBusy: boolean): void {
  const [wasBusy, setWasBusy] = useState(false);
  const [button, setButton] = useState<Element | null>(null);
  if (wasBusy !== isBusy) {
    setWasBusy(isBusy);
    // The button still has the focus, because it is disabled after this. Browsers may move the focus at once.
    if (isBusy) setButton(document.activeElement);
  }
  useLayoutEffect(() => {
    const isGone = !(button instanceof HTMLElement) || !button.isConnected;
    if (!isBusy && !isGone && isFocusLost()) button.focus({ preventScroll: true });
  }, [isBusy, button]);
}

let isFirstPage = true;

/** Focuses the heading of a page when it opens, except the first one, where the browser starts at the top. */
export function usePageFocus() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return heading;
}
