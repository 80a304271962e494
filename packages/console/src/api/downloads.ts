import { useState } from 'react';
import { useToasts } from '../components/toasts.tsx';

/** Saves a response as a file. A link cannot send the headers of a session, so the page fetches the bytes. */
export function useDownload() {
  const { showError } = useToasts();
  const [busy, setBusy] = useState(false);
  const download = async (name: string, read: () => Promise<Response>) => {
    setBusy(true);
    try {
      saveAs(name, await (await read()).blob());
    } catch (error) {
      showError(error);
    }
    setBusy(false);
  };
  return { busy, download };
}

function saveAs(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has started the download by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
