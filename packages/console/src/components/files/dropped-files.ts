/** A file that was dropped or chosen, with its path below the folder that was dropped. */
export interface DroppedFile {
  readonly file: File;
  readonly path: string;
}

/** Files beyond this number are not read. */
export const maxDroppedFiles = 10_000;
const maxDepth = 32;

/** Returns dropped files, and the files of dropped folders. Must be called in the event, which forgets them afterwards. */
export async function readDropped(transfer: DataTransfer): Promise<DroppedFile[]> {
  const items = [...transfer.items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found: DroppedFile[] = [];
  for (const { entry, file } of items) {
    if (entry?.isDirectory === true)
      await readFolder(entry as FileSystemDirectoryEntry, found, 1); // by isDirectory
    else if (file !== null) found.push({ file, path: file.name });
  }
  return found;
}

async function readFolder(folder: FileSystemDirectoryEntry, found: DroppedFile[], depth: number): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    // Each call returns a part of the entries, and the last one none.
    const entries = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (entries.length === 0) return;
    for (const entry of entries) {
      if (found.length > maxDroppedFiles) return;
      if (entry.isFile)
        found.push(await readEntry(entry as FileSystemFileEntry)); // by isFile
      else if (depth < maxDepth) await readFolder(entry as FileSystemDirectoryEntry, found, depth + 1); // no file
    }
  }
}

async function readEntry(entry: FileSystemFileEntry): Promise<DroppedFile> {
  const file = await new Promise<File>((done, failed) => entry.file(done, failed));
  return { file, path: entry.fullPath.slice(1) };
}

/** Returns the files of an input. In a chosen folder they have a path. */
export function readChosen(files: FileList | null): DroppedFile[] {
  return [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Returns the extension of a name in lower case. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase();
}
