/** Makes the browser ask before it closes or reloads the page while work of this tab is going on. */
export function warnBeforeLeaving(isBusy: () => boolean): void {
  globalThis.window?.addEventListener('beforeunload', (event) => {
    if (isBusy()) event.preventDefault();
  });
}
