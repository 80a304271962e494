/** Scrolls a box so that the first marked element is in its upper part. The page itself does not move. */
export function scrollToMark(box: HTMLElement | null): void {
  const mark = box?.querySelector('[data-mark]');
  if (box === null || mark == null) return;
  const above = mark.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += above - box.clientHeight / 4;
}
